//! Components written as text, to say of themselves what no SDK would.

/// What `describe` returns.
#[derive(Default, Clone)]
pub(crate) struct Manifest {
    pub(crate) tools: Vec<Tool>,
    /// Database, id, SQL.
    pub(crate) migrations: Vec<[&'static str; 3]>,
}

#[derive(Clone)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) input: &'static str,
    pub(crate) output: Option<&'static str>,
}

impl Default for Tool {
    fn default() -> Self {
        Self { name: "tool", description: "", input: r#"{"type":"object"}"#, output: None }
    }
}

/// A component that describes itself so; its other functions trap.
pub(crate) fn describing(manifest: &Manifest) -> Vec<u8> {
    calling(manifest, "unreachable")
}

/// A component that describes itself so; its other functions run `code`, which leaves an
/// address or nothing. It has a table `$table` of one element.
pub(crate) fn calling(manifest: &Manifest, code: &str) -> Vec<u8> {
    let (memory, root) = Memory::of(manifest);
    let describe = format!("i32.const {root}");
    component(&Text { describe: &describe, call: code, fields: &memory, ..Text::default() })
}

/// A component whose `describe` runs `code`, which leaves an address or nothing.
pub(crate) fn running(code: &str) -> Vec<u8> {
    component(&Text { describe: code, ..Text::default() })
}

/// One that imports a function `handle` of `name` besides.
pub(crate) fn importing(name: &str) -> Vec<u8> {
    let import = format!(r#"(import "{name}" (instance (export "handle" (func))))"#);
    component(&Text { import: &import, ..Text::default() })
}

/// One of so many core instances besides its own.
pub(crate) fn instances(count: usize) -> Vec<u8> {
    let instances = "(core instance (instantiate $empty))".repeat(count);
    component(&Text { import: &format!("(core module $empty) {instances}"), ..Text::default() })
}

/// One whose `describe` sends a request.
pub(crate) fn sending_in_describe() -> Vec<u8> {
    let (import, zeros) = (transport(""), "(i32.const 0) ".repeat(12));
    let describe = format!("(call $send {zeros}) unreachable");
    component(&Text { describe: &describe, import: &import, ..Text::default() })
}

/// One whose tool sends a request of 2 GiB, though its memory has one MiB: as a body
/// that ends beyond it, or as headers which all lie in one place.
pub(crate) fn flooding(manifest: &Manifest, beyond: bool) -> Vec<u8> {
    // 2,048 headers of 2 × 512 KiB.
    let fill = "(start $fill)
        (func $fill (local $at i32)
            (local.set $at (i32.const 786432))
            (loop $next
                (i32.store (local.get $at) (i32.const 262144))
                (i32.store offset=4 (local.get $at) (i32.const 524288))
                (i32.store offset=8 (local.get $at) (i32.const 262144))
                (i32.store offset=12 (local.get $at) (i32.const 524288))
                (local.set $at (i32.add (local.get $at) (i32.const 16)))
                (br_if $next (i32.lt_u (local.get $at) (i32.const 819200)))))";
    let (headers, body) = if beyond { ("0", "2147483647") } else { ("2048", "0") };
    let zeros = |count| "(i32.const 0) ".repeat(count);
    let call = format!(
        "(call $send {} (i32.const 786432) (i32.const {headers}) (i32.const 0) (i32.const {body}) {})
         unreachable",
        zeros(4),
        zeros(4)
    );
    let (memory, root) = Memory::of(manifest);
    let describe = format!("i32.const {root}");
    component(&Text { describe: &describe, call: &call, fields: &memory, import: &transport(fill) })
}

/// The import of `tether:tool/transport`, over a memory of 1 MiB whose module holds
/// `fields`.
fn transport(fields: &str) -> String {
    format!(
        r#"
        (import "tether:tool/transport@0.1.0" (instance $transport
            (type $headers (list (tuple string string)))
            (type $request' (record
                (field "method" string) (field "url" string) (field "headers" $headers)
                (field "body" (list u8)) (field "step" (option string))))
            (export "request" (type $request (eq $request')))
            (type $response' (record
                (field "status" u16) (field "headers" $headers) (field "body" (list u8))))
            (export "response" (type $response (eq $response')))
            (type $error' (variant
                (case "denied" string) (case "not-sent" string) (case "outcome-unknown" string)
                (case "too-large" u64) (case "transaction-open")))
            (export "error" (type $error (eq $error')))
            (export "send" (func (param "request" $request) (result (result $response (error $error)))))))
        (core module $memory
            (memory (export "memory") 16)
            {fields}
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024))
        (core instance $space (instantiate $memory))
        (core func $send (canon lower (func $transport "send")
            (memory (core memory $space "memory")) (realloc (core func $space "realloc"))))
        (core instance $host (export "send" (func $send)))"#
    )
}

/// Lays a manifest out as the canonical ABI asks for.
struct Memory(Vec<u8>);

impl Memory {
    /// Where the data begin; address 0 stays empty.
    const BASE: usize = 16;

    fn of(manifest: &Manifest) -> (String, usize) {
        let mut memory = Self(Vec::new());
        let mut tools = Vec::new();
        for tool in &manifest.tools {
            tools.extend(memory.text(tool.name));
            tools.extend([0; 3]); // no title
            tools.extend(memory.text(tool.description));
            tools.extend([0]); // a read
            tools.extend(memory.text(tool.input));
            match tool.output {
                None => tools.extend([0; 3]),
                Some(output) => {
                    tools.push(1);
                    tools.extend(memory.text(output));
                }
            }
        }
        let mut migrations = Vec::new();
        for text in manifest.migrations.iter().flatten() {
            migrations.extend(memory.text(text));
        }
        let tools = memory.words(&tools);
        let migrations = memory.words(&migrations);
        let root =
            memory.words(&[tools, manifest.tools.len() as u32, migrations, manifest.migrations.len() as u32]);
        let escaped: String = memory.0.iter().map(|byte| format!("\\{byte:02x}")).collect();
        (format!(r#"(data (i32.const {}) "{escaped}")"#, Self::BASE), root as usize)
    }

    fn text(&mut self, text: &str) -> [u32; 2] {
        let address = self.0.len() + Self::BASE;
        self.0.extend_from_slice(text.as_bytes());
        [address as u32, text.len() as u32]
    }

    fn words(&mut self, words: &[u32]) -> u32 {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        let address = self.0.len() + Self::BASE;
        self.0.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        address as u32
    }
}

/// What differs between components.
struct Text<'a> {
    /// Code of `describe`.
    describe: &'a str,
    /// Code of `preview` and `invoke`.
    call: &'a str,
    /// Further fields of the module.
    fields: &'a str,
    /// Further definitions of the component, before the module.
    import: &'a str,
}

impl Default for Text<'_> {
    fn default() -> Self {
        Self { describe: "unreachable", call: "unreachable", fields: "", import: "" }
    }
}

fn component(text: &Text) -> Vec<u8> {
    let Text { describe, call, fields, import } = text;
    let (send, with) = match import.contains("$send") {
        true => {
            let send = format!(r#"(import "host" "send" (func $send (param {})))"#, "i32 ".repeat(12));
            (send, r#"(with "host" (instance $host))"#)
        }
        false => (String::new(), ""),
    };
    let text = format!(
        r#"(component
            {import}
            (core module $module
                {send}
                (memory (export "memory") 4)
                (table $table 1 funcref)
                {fields}
                (func (export "describe") (result i32) {describe})
                (func (export "call")
                    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32) {call})
                (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 131072)
            )
            (core instance $code (instantiate $module {with}))
            (type $effect' (enum "read" "write"))
            (export $effect "effect" (type $effect'))
            (type $tool' (record
                (field "name" string) (field "title" (option string)) (field "description" string)
                (field "effect" $effect) (field "input-schema" string) (field "output-schema" (option string))))
            (export $tool "tool" (type $tool'))
            (type $migration' (record (field "database" string) (field "id" string) (field "sql" string)))
            (export $migration "migration" (type $migration'))
            (type $manifest' (record (field "tools" (list $tool)) (field "migrations" (list $migration))))
            (export $manifest "manifest" (type $manifest'))
            (type $invocation' (record
                (field "request-id" string) (field "tool" string) (field "tenant" string) (field "user" string)
                (field "arguments" string) (field "attempt" u32) (field "timeout-ms" u32)))
            (export $invocation "invocation" (type $invocation'))
            (type $fault' (record
                (field "code" string) (field "message" string) (field "retry-after-ms" (option u32))))
            (export $fault "fault" (type $fault'))
            (type $error' (variant
                (case "invalid-arguments" string) (case "refused" $fault)
                (case "transient" $fault) (case "failed" $fault)))
            (export $error "tool-error" (type $error'))
            (func $describe (result $manifest)
                (canon lift (core func $code "describe") (memory (core memory $code "memory"))))
            (func $preview (param "invocation" $invocation) (result (result (option string) (error $error)))
                (canon lift (core func $code "call") (memory (core memory $code "memory")) (realloc (core func $code "realloc"))))
            (func $invoke (param "invocation" $invocation) (result (result string (error $error)))
                (canon lift (core func $code "call") (memory (core memory $code "memory")) (realloc (core func $code "realloc"))))
            (instance $handler
                (export "describe" (func $describe))
                (export "preview" (func $preview))
                (export "invoke" (func $invoke)))
            (export "tether:tool/handler@0.1.0" (instance $handler))
        )"#
    );
    wat::parse_str(text).unwrap()
}
