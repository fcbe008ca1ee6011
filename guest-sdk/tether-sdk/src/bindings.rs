#[allow(dead_code, clippy::all)]
pub mod tether {
    pub mod tool {
        /// Plain data shared by every interface of this package.
        #[allow(dead_code, async_fn_in_trait, unused_imports, clippy::all)]
        pub mod types {
            #[used]
            #[doc(hidden)]
            static __FORCE_SECTION_REF: fn() = super::super::super::__link_custom_section_describing_imports;
            use super::super::super::_rt;
            /// UTF-8 text that holds exactly one JSON value (RFC 8259).
            pub type Json = _rt::String;
            /// What a call of a tool may do to the outside world.
            #[repr(u8)]
            #[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
            pub enum Effect {
                /// Changes nothing. The host MAY run it again at any time, and refuses
                /// it every import that could change something.
                Read,
                /// Changes something. The host MUST hold it until a person confirms it.
                Write,
            }
            impl ::core::fmt::Debug for Effect {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    match self {
                        Effect::Read => f.debug_tuple("Effect::Read").finish(),
                        Effect::Write => f.debug_tuple("Effect::Write").finish(),
                    }
                }
            }
            impl Effect {
                #[doc(hidden)]
                pub unsafe fn _lift(val: u8) -> Effect {
                    if !cfg!(debug_assertions) {
                        return unsafe { ::core::mem::transmute(val) };
                    }
                    match val {
                        0 => Effect::Read,
                        1 => Effect::Write,
                        _ => panic!("invalid enum discriminant"),
                    }
                }
            }
            /// One tool that the component offers.
            #[derive(Clone)]
            pub struct Tool {
                /// 1 to 128 characters of `A-Z a-z 0-9 _ - .`; unique within the host.
                pub name: _rt::String,
                /// A short name for people.
                pub title: ::core::option::Option<_rt::String>,
                /// What the tool does, for the model that chooses it.
                pub description: _rt::String,
                pub effect: Effect,
                /// JSON Schema (2020-12) of the arguments: an object schema. The host
                /// checks every call against it before the component sees the call.
                pub input_schema: Json,
                /// JSON Schema of the output, where the tool promises one.
                pub output_schema: ::core::option::Option<Json>,
            }
            impl ::core::fmt::Debug for Tool {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    f.debug_struct("Tool")
                        .field("name", &self.name)
                        .field("title", &self.title)
                        .field("description", &self.description)
                        .field("effect", &self.effect)
                        .field("input-schema", &self.input_schema)
                        .field("output-schema", &self.output_schema)
                        .finish()
                }
            }
            /// One step of a database's schema. The host applies each once per
            /// database, in the listed order, before the first call that opens it.
            #[derive(Clone)]
            pub struct Migration {
                pub database: _rt::String,
                pub id: _rt::String,
                pub sql: _rt::String,
            }
            impl ::core::fmt::Debug for Migration {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    f.debug_struct("Migration")
                        .field("database", &self.database)
                        .field("id", &self.id)
                        .field("sql", &self.sql)
                        .finish()
                }
            }
            /// Everything that a host needs to know before the first call.
            #[derive(Clone)]
            pub struct Manifest {
                pub tools: _rt::Vec<Tool>,
                pub migrations: _rt::Vec<Migration>,
            }
            impl ::core::fmt::Debug for Manifest {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    f.debug_struct("Manifest")
                        .field("tools", &self.tools)
                        .field("migrations", &self.migrations)
                        .finish()
                }
            }
            /// One logical call of one tool.
            #[derive(Clone)]
            pub struct Invocation {
                /// The idempotency key: 32 hex digits, the same for every attempt of
                /// this call. Of a confirmed write it is the id of the action, and so
                /// the same however often a person confirms that action again.
                pub request_id: _rt::String,
                pub tool: _rt::String,
                pub tenant: _rt::String,
                /// Who asked for it; of a write, who proposed it.
                pub user: _rt::String,
                pub arguments: Json,
                /// 1 for the first attempt.
                pub attempt: u32,
                /// Milliseconds that this attempt has for itself, waiting in `send`
                /// excepted.
                pub timeout_ms: u32,
            }
            impl ::core::fmt::Debug for Invocation {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    f.debug_struct("Invocation")
                        .field("request-id", &self.request_id)
                        .field("tool", &self.tool)
                        .field("tenant", &self.tenant)
                        .field("user", &self.user)
                        .field("arguments", &self.arguments)
                        .field("attempt", &self.attempt)
                        .field("timeout-ms", &self.timeout_ms)
                        .finish()
                }
            }
            /// A failure, told to programs and to people.
            #[derive(Clone)]
            pub struct Fault {
                /// Stable and in capitals, such as `TICKET_ALREADY_VOID`.
                pub code: _rt::String,
                pub message: _rt::String,
                /// Not before so many milliseconds; the host never retries sooner.
                pub retry_after_ms: ::core::option::Option<u32>,
            }
            impl ::core::fmt::Debug for Fault {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    f.debug_struct("Fault")
                        .field("code", &self.code)
                        .field("message", &self.message)
                        .field("retry-after-ms", &self.retry_after_ms)
                        .finish()
                }
            }
            /// Why a call has no output.
            #[derive(Clone)]
            pub enum ToolError {
                /// The arguments fit the schema and make no sense all the same. Final.
                InvalidArguments(_rt::String),
                /// The tool understood, and says no. Final.
                Refused(Fault),
                /// It may go better later. A read is retried while the call's retry
                /// budget lasts; a write goes back to the person.
                Transient(Fault),
                /// Anything else. Final.
                Failed(Fault),
            }
            impl ::core::fmt::Debug for ToolError {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    match self {
                        ToolError::InvalidArguments(e) => {
                            f.debug_tuple("ToolError::InvalidArguments")
                                .field(e)
                                .finish()
                        }
                        ToolError::Refused(e) => {
                            f.debug_tuple("ToolError::Refused").field(e).finish()
                        }
                        ToolError::Transient(e) => {
                            f.debug_tuple("ToolError::Transient").field(e).finish()
                        }
                        ToolError::Failed(e) => {
                            f.debug_tuple("ToolError::Failed").field(e).finish()
                        }
                    }
                }
            }
            impl ::core::fmt::Display for ToolError {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    write!(f, "{:?}", self)
                }
            }
            impl ::core::error::Error for ToolError {}
        }
        /// SQL databases that the operator granted, and the record of what was done.
        ///
        /// The guarantee: of one write and one step, at most one transaction commits
        /// in one database, ever, and its output is stored in that same transaction. A
        /// component can neither commit without recording nor record without
        /// committing. The record without a step is the main one: once it is there,
        /// the action has succeeded with that output, and the attempt can begin
        /// nothing more.
        #[allow(dead_code, async_fn_in_trait, unused_imports, clippy::all)]
        pub mod database {
            #[used]
            #[doc(hidden)]
            static __FORCE_SECTION_REF: fn() = super::super::super::__link_custom_section_describing_imports;
            use super::super::super::_rt;
            pub type Json = super::super::super::tether::tool::types::Json;
            /// Parameters are written `$1`, `$2`, … on every engine.
            #[derive(Clone)]
            pub enum Value {
                Null,
                Boolean(bool),
                Integer(i64),
                Real(f64),
                Text(_rt::String),
                Blob(_rt::Vec<u8>),
            }
            impl ::core::fmt::Debug for Value {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    match self {
                        Value::Null => f.debug_tuple("Value::Null").finish(),
                        Value::Boolean(e) => {
                            f.debug_tuple("Value::Boolean").field(e).finish()
                        }
                        Value::Integer(e) => {
                            f.debug_tuple("Value::Integer").field(e).finish()
                        }
                        Value::Real(e) => f.debug_tuple("Value::Real").field(e).finish(),
                        Value::Text(e) => f.debug_tuple("Value::Text").field(e).finish(),
                        Value::Blob(e) => f.debug_tuple("Value::Blob").field(e).finish(),
                    }
                }
            }
            #[derive(Clone)]
            pub struct RowSet {
                pub columns: _rt::Vec<_rt::String>,
                pub rows: _rt::Vec<_rt::Vec<Value>>,
            }
            impl ::core::fmt::Debug for RowSet {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    f.debug_struct("RowSet")
                        .field("columns", &self.columns)
                        .field("rows", &self.rows)
                        .finish()
                }
            }
            #[derive(Clone)]
            pub enum Error {
                /// No database of that name is granted to this component.
                NotGranted,
                /// A read, or a preview, tried to change something.
                ReadOnly,
                /// A unique, check, foreign-key or not-null rule said no. The
                /// transaction goes on.
                Constraint(_rt::String),
                /// Another writer held the database for too long, or the engine chose
                /// this transaction to give way.
                Busy,
                /// The rows, or the output, are over the host's limit.
                TooLarge,
                /// The output is no JSON, or not what the tool's output schema promises.
                InvalidOutput(_rt::String),
                StorageFull,
                /// Not something a component may do: transaction control, attaching
                /// files, settings, the record table; a second open transaction; anything
                /// after the main record.
                Forbidden(_rt::String),
                /// What the engine said; not for branching.
                Other(_rt::String),
            }
            impl ::core::fmt::Debug for Error {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    match self {
                        Error::NotGranted => f.debug_tuple("Error::NotGranted").finish(),
                        Error::ReadOnly => f.debug_tuple("Error::ReadOnly").finish(),
                        Error::Constraint(e) => {
                            f.debug_tuple("Error::Constraint").field(e).finish()
                        }
                        Error::Busy => f.debug_tuple("Error::Busy").finish(),
                        Error::TooLarge => f.debug_tuple("Error::TooLarge").finish(),
                        Error::InvalidOutput(e) => {
                            f.debug_tuple("Error::InvalidOutput").field(e).finish()
                        }
                        Error::StorageFull => {
                            f.debug_tuple("Error::StorageFull").finish()
                        }
                        Error::Forbidden(e) => {
                            f.debug_tuple("Error::Forbidden").field(e).finish()
                        }
                        Error::Other(e) => {
                            f.debug_tuple("Error::Other").field(e).finish()
                        }
                    }
                }
            }
            impl ::core::fmt::Display for Error {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    write!(f, "{:?}", self)
                }
            }
            impl ::core::error::Error for Error {}
            #[derive(Debug)]
            #[repr(transparent)]
            pub struct Connection {
                handle: _rt::Resource<Connection>,
            }
            impl Connection {
                #[doc(hidden)]
                pub unsafe fn from_handle(handle: u32) -> Self {
                    Self {
                        handle: unsafe { _rt::Resource::from_handle(handle) },
                    }
                }
                #[doc(hidden)]
                pub fn take_handle(&self) -> u32 {
                    _rt::Resource::take_handle(&self.handle)
                }
                #[doc(hidden)]
                pub fn handle(&self) -> u32 {
                    _rt::Resource::handle(&self.handle)
                }
            }
            unsafe impl _rt::WasmResource for Connection {
                #[inline]
                unsafe fn drop(_handle: u32) {
                    #[cfg(target_arch = "wasm32")]
                    #[link(wasm_import_module = "tether:tool/database@0.1.0")]
                    unsafe extern "C" {
                        #[link_name = "[resource-drop]connection"]
                        fn drop(_: i32);
                    }
                    #[cfg(not(target_arch = "wasm32"))]
                    unsafe extern "C" fn drop(_: i32) {
                        unreachable!()
                    }
                    unsafe {
                        drop(_handle as i32);
                    }
                }
            }
            /// Dropping it undoes it. At most one is open in a call.
            #[derive(Debug)]
            #[repr(transparent)]
            pub struct Transaction {
                handle: _rt::Resource<Transaction>,
            }
            impl Transaction {
                #[doc(hidden)]
                pub unsafe fn from_handle(handle: u32) -> Self {
                    Self {
                        handle: unsafe { _rt::Resource::from_handle(handle) },
                    }
                }
                #[doc(hidden)]
                pub fn take_handle(&self) -> u32 {
                    _rt::Resource::take_handle(&self.handle)
                }
                #[doc(hidden)]
                pub fn handle(&self) -> u32 {
                    _rt::Resource::handle(&self.handle)
                }
            }
            unsafe impl _rt::WasmResource for Transaction {
                #[inline]
                unsafe fn drop(_handle: u32) {
                    #[cfg(target_arch = "wasm32")]
                    #[link(wasm_import_module = "tether:tool/database@0.1.0")]
                    unsafe extern "C" {
                        #[link_name = "[resource-drop]transaction"]
                        fn drop(_: i32);
                    }
                    #[cfg(not(target_arch = "wasm32"))]
                    unsafe extern "C" fn drop(_: i32) {
                        unreachable!()
                    }
                    unsafe {
                        drop(_handle as i32);
                    }
                }
            }
            pub enum Begun {
                Fresh(Transaction),
                Recorded(Json),
            }
            impl ::core::fmt::Debug for Begun {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    match self {
                        Begun::Fresh(e) => {
                            f.debug_tuple("Begun::Fresh").field(e).finish()
                        }
                        Begun::Recorded(e) => {
                            f.debug_tuple("Begun::Recorded").field(e).finish()
                        }
                    }
                }
            }
            impl Connection {
                #[allow(unused_unsafe, clippy::all)]
                /// `main` is the component's own database for the caller's tenant.
                #[allow(async_fn_in_trait)]
                pub fn open(name: &str) -> ::core::result::Result<Connection, Error> {
                    unsafe {
                        #[cfg_attr(target_pointer_width = "64", repr(align(8)))]
                        #[cfg_attr(target_pointer_width = "32", repr(align(4)))]
                        struct RetArea(
                            [::core::mem::MaybeUninit<
                                u8,
                            >; 4 * ::core::mem::size_of::<*const u8>()],
                        );
                        let mut ret_area = RetArea(
                            [::core::mem::MaybeUninit::uninit(); 4
                                * ::core::mem::size_of::<*const u8>()],
                        );
                        let vec0 = name;
                        let ptr0 = vec0.as_ptr().cast::<u8>();
                        let len0 = vec0.len();
                        let ptr1 = ret_area.0.as_mut_ptr().cast::<u8>();
                        #[cfg(target_arch = "wasm32")]
                        #[link(wasm_import_module = "tether:tool/database@0.1.0")]
                        unsafe extern "C" {
                            #[link_name = "[static]connection.open"]
                            fn wit_import2(_: *mut u8, _: usize, _: *mut u8);
                        }
                        #[cfg(not(target_arch = "wasm32"))]
                        unsafe extern "C" fn wit_import2(
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                        ) {
                            unreachable!()
                        }
                        wit_import2(ptr0.cast_mut(), len0, ptr1);
                        let l3 = i32::from(*ptr1.add(0).cast::<u8>());
                        let result19 = match l3 {
                            0 => {
                                let e = {
                                    let l4 = *ptr1
                                        .add(::core::mem::size_of::<*const u8>())
                                        .cast::<i32>();
                                    Connection::from_handle(l4 as u32)
                                };
                                Ok(e)
                            }
                            1 => {
                                let e = {
                                    let l5 = i32::from(
                                        *ptr1.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                    );
                                    let v18 = match l5 {
                                        0 => Error::NotGranted,
                                        1 => Error::ReadOnly,
                                        2 => {
                                            let e18 = {
                                                let l6 = *ptr1
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l7 = *ptr1
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len8 = l7;
                                                let bytes8 = _rt::Vec::from_raw_parts(
                                                    l6.cast(),
                                                    len8,
                                                    len8,
                                                );
                                                _rt::string_lift(bytes8)
                                            };
                                            Error::Constraint(e18)
                                        }
                                        3 => Error::Busy,
                                        4 => Error::TooLarge,
                                        5 => {
                                            let e18 = {
                                                let l9 = *ptr1
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l10 = *ptr1
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len11 = l10;
                                                let bytes11 = _rt::Vec::from_raw_parts(
                                                    l9.cast(),
                                                    len11,
                                                    len11,
                                                );
                                                _rt::string_lift(bytes11)
                                            };
                                            Error::InvalidOutput(e18)
                                        }
                                        6 => Error::StorageFull,
                                        7 => {
                                            let e18 = {
                                                let l12 = *ptr1
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l13 = *ptr1
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len14 = l13;
                                                let bytes14 = _rt::Vec::from_raw_parts(
                                                    l12.cast(),
                                                    len14,
                                                    len14,
                                                );
                                                _rt::string_lift(bytes14)
                                            };
                                            Error::Forbidden(e18)
                                        }
                                        n => {
                                            debug_assert_eq!(n, 8, "invalid enum discriminant");
                                            let e18 = {
                                                let l15 = *ptr1
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l16 = *ptr1
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len17 = l16;
                                                let bytes17 = _rt::Vec::from_raw_parts(
                                                    l15.cast(),
                                                    len17,
                                                    len17,
                                                );
                                                _rt::string_lift(bytes17)
                                            };
                                            Error::Other(e18)
                                        }
                                    };
                                    v18
                                };
                                Err(e)
                            }
                            _ => _rt::invalid_enum_discriminant(),
                        };
                        result19
                    }
                }
            }
            impl Connection {
                #[allow(unused_unsafe, clippy::all)]
                /// Read committed data, outside any transaction of this call.
                #[allow(async_fn_in_trait)]
                pub fn query(
                    &self,
                    sql: &str,
                    parameters: &[Value],
                ) -> ::core::result::Result<RowSet, Error> {
                    unsafe {
                        #[cfg_attr(target_pointer_width = "64", repr(align(8)))]
                        #[cfg_attr(target_pointer_width = "32", repr(align(4)))]
                        struct RetArea(
                            [::core::mem::MaybeUninit<
                                u8,
                            >; 5 * ::core::mem::size_of::<*const u8>()],
                        );
                        let mut ret_area = RetArea(
                            [::core::mem::MaybeUninit::uninit(); 5
                                * ::core::mem::size_of::<*const u8>()],
                        );
                        let vec0 = sql;
                        let ptr0 = vec0.as_ptr().cast::<u8>();
                        let len0 = vec0.len();
                        let vec3 = parameters;
                        let len3 = vec3.len();
                        let layout3 = _rt::alloc::Layout::from_size_align(
                                vec3.len() * (8 + 2 * ::core::mem::size_of::<*const u8>()),
                                8,
                            )
                            .unwrap();
                        let (result3, _cleanup3) = wit_bindgen::rt::Cleanup::new(
                            layout3,
                        );
                        for (i, e) in vec3.into_iter().enumerate() {
                            let base = result3
                                .add(i * (8 + 2 * ::core::mem::size_of::<*const u8>()));
                            {
                                match e {
                                    Value::Null => {
                                        *base.add(0).cast::<u8>() = (0i32) as u8;
                                    }
                                    Value::Boolean(e) => {
                                        *base.add(0).cast::<u8>() = (1i32) as u8;
                                        *base.add(8).cast::<u8>() = (match e {
                                            true => 1,
                                            false => 0,
                                        }) as u8;
                                    }
                                    Value::Integer(e) => {
                                        *base.add(0).cast::<u8>() = (2i32) as u8;
                                        *base.add(8).cast::<i64>() = _rt::as_i64(e);
                                    }
                                    Value::Real(e) => {
                                        *base.add(0).cast::<u8>() = (3i32) as u8;
                                        *base.add(8).cast::<f64>() = _rt::as_f64(e);
                                    }
                                    Value::Text(e) => {
                                        *base.add(0).cast::<u8>() = (4i32) as u8;
                                        let vec1 = e;
                                        let ptr1 = vec1.as_ptr().cast::<u8>();
                                        let len1 = vec1.len();
                                        *base
                                            .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len1;
                                        *base.add(8).cast::<*mut u8>() = ptr1.cast_mut();
                                    }
                                    Value::Blob(e) => {
                                        *base.add(0).cast::<u8>() = (5i32) as u8;
                                        let vec2 = e;
                                        let ptr2 = vec2.as_ptr().cast::<u8>();
                                        let len2 = vec2.len();
                                        *base
                                            .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len2;
                                        *base.add(8).cast::<*mut u8>() = ptr2.cast_mut();
                                    }
                                }
                            }
                        }
                        let ptr4 = ret_area.0.as_mut_ptr().cast::<u8>();
                        #[cfg(target_arch = "wasm32")]
                        #[link(wasm_import_module = "tether:tool/database@0.1.0")]
                        unsafe extern "C" {
                            #[link_name = "[method]connection.query"]
                            fn wit_import5(
                                _: i32,
                                _: *mut u8,
                                _: usize,
                                _: *mut u8,
                                _: usize,
                                _: *mut u8,
                            );
                        }
                        #[cfg(not(target_arch = "wasm32"))]
                        unsafe extern "C" fn wit_import5(
                            _: i32,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                        ) {
                            unreachable!()
                        }
                        wit_import5(
                            (self).handle() as i32,
                            ptr0.cast_mut(),
                            len0,
                            result3,
                            len3,
                            ptr4,
                        );
                        let l6 = i32::from(*ptr4.add(0).cast::<u8>());
                        let result44 = match l6 {
                            0 => {
                                let e = {
                                    let l7 = *ptr4
                                        .add(::core::mem::size_of::<*const u8>())
                                        .cast::<*mut u8>();
                                    let l8 = *ptr4
                                        .add(2 * ::core::mem::size_of::<*const u8>())
                                        .cast::<usize>();
                                    let base12 = l7;
                                    let len12 = l8;
                                    let mut result12 = _rt::Vec::with_capacity(len12);
                                    for i in 0..len12 {
                                        let base = base12
                                            .add(i * (2 * ::core::mem::size_of::<*const u8>()));
                                        let e12 = {
                                            let l9 = *base.add(0).cast::<*mut u8>();
                                            let l10 = *base
                                                .add(::core::mem::size_of::<*const u8>())
                                                .cast::<usize>();
                                            let len11 = l10;
                                            let bytes11 = _rt::Vec::from_raw_parts(
                                                l9.cast(),
                                                len11,
                                                len11,
                                            );
                                            _rt::string_lift(bytes11)
                                        };
                                        result12.push(e12);
                                    }
                                    _rt::cabi_dealloc(
                                        base12,
                                        len12 * (2 * ::core::mem::size_of::<*const u8>()),
                                        ::core::mem::size_of::<*const u8>(),
                                    );
                                    let l13 = *ptr4
                                        .add(3 * ::core::mem::size_of::<*const u8>())
                                        .cast::<*mut u8>();
                                    let l14 = *ptr4
                                        .add(4 * ::core::mem::size_of::<*const u8>())
                                        .cast::<usize>();
                                    let base29 = l13;
                                    let len29 = l14;
                                    let mut result29 = _rt::Vec::with_capacity(len29);
                                    for i in 0..len29 {
                                        let base = base29
                                            .add(i * (2 * ::core::mem::size_of::<*const u8>()));
                                        let e29 = {
                                            let l15 = *base.add(0).cast::<*mut u8>();
                                            let l16 = *base
                                                .add(::core::mem::size_of::<*const u8>())
                                                .cast::<usize>();
                                            let base28 = l15;
                                            let len28 = l16;
                                            let mut result28 = _rt::Vec::with_capacity(len28);
                                            for i in 0..len28 {
                                                let base = base28
                                                    .add(i * (8 + 2 * ::core::mem::size_of::<*const u8>()));
                                                let e28 = {
                                                    let l17 = i32::from(*base.add(0).cast::<u8>());
                                                    let v27 = match l17 {
                                                        0 => Value::Null,
                                                        1 => {
                                                            let e27 = {
                                                                let l18 = i32::from(*base.add(8).cast::<u8>());
                                                                _rt::bool_lift(l18 as u8)
                                                            };
                                                            Value::Boolean(e27)
                                                        }
                                                        2 => {
                                                            let e27 = {
                                                                let l19 = *base.add(8).cast::<i64>();
                                                                l19
                                                            };
                                                            Value::Integer(e27)
                                                        }
                                                        3 => {
                                                            let e27 = {
                                                                let l20 = *base.add(8).cast::<f64>();
                                                                l20
                                                            };
                                                            Value::Real(e27)
                                                        }
                                                        4 => {
                                                            let e27 = {
                                                                let l21 = *base.add(8).cast::<*mut u8>();
                                                                let l22 = *base
                                                                    .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                                                    .cast::<usize>();
                                                                let len23 = l22;
                                                                let bytes23 = _rt::Vec::from_raw_parts(
                                                                    l21.cast(),
                                                                    len23,
                                                                    len23,
                                                                );
                                                                _rt::string_lift(bytes23)
                                                            };
                                                            Value::Text(e27)
                                                        }
                                                        n => {
                                                            debug_assert_eq!(n, 5, "invalid enum discriminant");
                                                            let e27 = {
                                                                let l24 = *base.add(8).cast::<*mut u8>();
                                                                let l25 = *base
                                                                    .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                                                    .cast::<usize>();
                                                                let len26 = l25;
                                                                <_ as From<
                                                                    _rt::Vec<_>,
                                                                >>::from(_rt::Vec::from_raw_parts(l24.cast(), len26, len26))
                                                            };
                                                            Value::Blob(e27)
                                                        }
                                                    };
                                                    v27
                                                };
                                                result28.push(e28);
                                            }
                                            _rt::cabi_dealloc(
                                                base28,
                                                len28 * (8 + 2 * ::core::mem::size_of::<*const u8>()),
                                                8,
                                            );
                                            result28
                                        };
                                        result29.push(e29);
                                    }
                                    _rt::cabi_dealloc(
                                        base29,
                                        len29 * (2 * ::core::mem::size_of::<*const u8>()),
                                        ::core::mem::size_of::<*const u8>(),
                                    );
                                    RowSet {
                                        columns: result12,
                                        rows: result29,
                                    }
                                };
                                Ok(e)
                            }
                            1 => {
                                let e = {
                                    let l30 = i32::from(
                                        *ptr4.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                    );
                                    let v43 = match l30 {
                                        0 => Error::NotGranted,
                                        1 => Error::ReadOnly,
                                        2 => {
                                            let e43 = {
                                                let l31 = *ptr4
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l32 = *ptr4
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len33 = l32;
                                                let bytes33 = _rt::Vec::from_raw_parts(
                                                    l31.cast(),
                                                    len33,
                                                    len33,
                                                );
                                                _rt::string_lift(bytes33)
                                            };
                                            Error::Constraint(e43)
                                        }
                                        3 => Error::Busy,
                                        4 => Error::TooLarge,
                                        5 => {
                                            let e43 = {
                                                let l34 = *ptr4
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l35 = *ptr4
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len36 = l35;
                                                let bytes36 = _rt::Vec::from_raw_parts(
                                                    l34.cast(),
                                                    len36,
                                                    len36,
                                                );
                                                _rt::string_lift(bytes36)
                                            };
                                            Error::InvalidOutput(e43)
                                        }
                                        6 => Error::StorageFull,
                                        7 => {
                                            let e43 = {
                                                let l37 = *ptr4
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l38 = *ptr4
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len39 = l38;
                                                let bytes39 = _rt::Vec::from_raw_parts(
                                                    l37.cast(),
                                                    len39,
                                                    len39,
                                                );
                                                _rt::string_lift(bytes39)
                                            };
                                            Error::Forbidden(e43)
                                        }
                                        n => {
                                            debug_assert_eq!(n, 8, "invalid enum discriminant");
                                            let e43 = {
                                                let l40 = *ptr4
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l41 = *ptr4
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len42 = l41;
                                                let bytes42 = _rt::Vec::from_raw_parts(
                                                    l40.cast(),
                                                    len42,
                                                    len42,
                                                );
                                                _rt::string_lift(bytes42)
                                            };
                                            Error::Other(e43)
                                        }
                                    };
                                    v43
                                };
                                Err(e)
                            }
                            _ => _rt::invalid_enum_discriminant(),
                        };
                        result44
                    }
                }
            }
            impl Connection {
                #[allow(unused_unsafe, clippy::all)]
                /// The output that was recorded for this call's key (and step), if any.
                #[allow(async_fn_in_trait)]
                pub fn lookup(
                    &self,
                    step: ::core::option::Option<&str>,
                ) -> ::core::result::Result<::core::option::Option<Json>, Error> {
                    unsafe {
                        #[cfg_attr(target_pointer_width = "64", repr(align(8)))]
                        #[cfg_attr(target_pointer_width = "32", repr(align(4)))]
                        struct RetArea(
                            [::core::mem::MaybeUninit<
                                u8,
                            >; 4 * ::core::mem::size_of::<*const u8>()],
                        );
                        let mut ret_area = RetArea(
                            [::core::mem::MaybeUninit::uninit(); 4
                                * ::core::mem::size_of::<*const u8>()],
                        );
                        let (result1_0, result1_1, result1_2) = match step {
                            Some(e) => {
                                let vec0 = e;
                                let ptr0 = vec0.as_ptr().cast::<u8>();
                                let len0 = vec0.len();
                                (1i32, ptr0.cast_mut(), len0)
                            }
                            None => (0i32, ::core::ptr::null_mut(), 0usize),
                        };
                        let ptr2 = ret_area.0.as_mut_ptr().cast::<u8>();
                        #[cfg(target_arch = "wasm32")]
                        #[link(wasm_import_module = "tether:tool/database@0.1.0")]
                        unsafe extern "C" {
                            #[link_name = "[method]connection.lookup"]
                            fn wit_import3(
                                _: i32,
                                _: i32,
                                _: *mut u8,
                                _: usize,
                                _: *mut u8,
                            );
                        }
                        #[cfg(not(target_arch = "wasm32"))]
                        unsafe extern "C" fn wit_import3(
                            _: i32,
                            _: i32,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                        ) {
                            unreachable!()
                        }
                        wit_import3(
                            (self).handle() as i32,
                            result1_0,
                            result1_1,
                            result1_2,
                            ptr2,
                        );
                        let l4 = i32::from(*ptr2.add(0).cast::<u8>());
                        let result23 = match l4 {
                            0 => {
                                let e = {
                                    let l5 = i32::from(
                                        *ptr2.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                    );
                                    match l5 {
                                        0 => None,
                                        1 => {
                                            let e = {
                                                let l6 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l7 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len8 = l7;
                                                let bytes8 = _rt::Vec::from_raw_parts(
                                                    l6.cast(),
                                                    len8,
                                                    len8,
                                                );
                                                _rt::string_lift(bytes8)
                                            };
                                            Some(e)
                                        }
                                        _ => _rt::invalid_enum_discriminant(),
                                    }
                                };
                                Ok(e)
                            }
                            1 => {
                                let e = {
                                    let l9 = i32::from(
                                        *ptr2.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                    );
                                    let v22 = match l9 {
                                        0 => Error::NotGranted,
                                        1 => Error::ReadOnly,
                                        2 => {
                                            let e22 = {
                                                let l10 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l11 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len12 = l11;
                                                let bytes12 = _rt::Vec::from_raw_parts(
                                                    l10.cast(),
                                                    len12,
                                                    len12,
                                                );
                                                _rt::string_lift(bytes12)
                                            };
                                            Error::Constraint(e22)
                                        }
                                        3 => Error::Busy,
                                        4 => Error::TooLarge,
                                        5 => {
                                            let e22 = {
                                                let l13 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l14 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len15 = l14;
                                                let bytes15 = _rt::Vec::from_raw_parts(
                                                    l13.cast(),
                                                    len15,
                                                    len15,
                                                );
                                                _rt::string_lift(bytes15)
                                            };
                                            Error::InvalidOutput(e22)
                                        }
                                        6 => Error::StorageFull,
                                        7 => {
                                            let e22 = {
                                                let l16 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l17 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len18 = l17;
                                                let bytes18 = _rt::Vec::from_raw_parts(
                                                    l16.cast(),
                                                    len18,
                                                    len18,
                                                );
                                                _rt::string_lift(bytes18)
                                            };
                                            Error::Forbidden(e22)
                                        }
                                        n => {
                                            debug_assert_eq!(n, 8, "invalid enum discriminant");
                                            let e22 = {
                                                let l19 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l20 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len21 = l20;
                                                let bytes21 = _rt::Vec::from_raw_parts(
                                                    l19.cast(),
                                                    len21,
                                                    len21,
                                                );
                                                _rt::string_lift(bytes21)
                                            };
                                            Error::Other(e22)
                                        }
                                    };
                                    v22
                                };
                                Err(e)
                            }
                            _ => _rt::invalid_enum_discriminant(),
                        };
                        result23
                    }
                }
            }
            impl Connection {
                #[allow(unused_unsafe, clippy::all)]
                /// Start the one transaction of this call's key (and step), or learn
                /// that it committed before. A handler with one transaction passes no
                /// step; one with several names each, and the last takes none.
                #[allow(async_fn_in_trait)]
                pub fn begin(
                    &self,
                    step: ::core::option::Option<&str>,
                ) -> ::core::result::Result<Begun, Error> {
                    unsafe {
                        #[cfg_attr(target_pointer_width = "64", repr(align(8)))]
                        #[cfg_attr(target_pointer_width = "32", repr(align(4)))]
                        struct RetArea(
                            [::core::mem::MaybeUninit<
                                u8,
                            >; 4 * ::core::mem::size_of::<*const u8>()],
                        );
                        let mut ret_area = RetArea(
                            [::core::mem::MaybeUninit::uninit(); 4
                                * ::core::mem::size_of::<*const u8>()],
                        );
                        let (result1_0, result1_1, result1_2) = match step {
                            Some(e) => {
                                let vec0 = e;
                                let ptr0 = vec0.as_ptr().cast::<u8>();
                                let len0 = vec0.len();
                                (1i32, ptr0.cast_mut(), len0)
                            }
                            None => (0i32, ::core::ptr::null_mut(), 0usize),
                        };
                        let ptr2 = ret_area.0.as_mut_ptr().cast::<u8>();
                        #[cfg(target_arch = "wasm32")]
                        #[link(wasm_import_module = "tether:tool/database@0.1.0")]
                        unsafe extern "C" {
                            #[link_name = "[method]connection.begin"]
                            fn wit_import3(
                                _: i32,
                                _: i32,
                                _: *mut u8,
                                _: usize,
                                _: *mut u8,
                            );
                        }
                        #[cfg(not(target_arch = "wasm32"))]
                        unsafe extern "C" fn wit_import3(
                            _: i32,
                            _: i32,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                        ) {
                            unreachable!()
                        }
                        wit_import3(
                            (self).handle() as i32,
                            result1_0,
                            result1_1,
                            result1_2,
                            ptr2,
                        );
                        let l4 = i32::from(*ptr2.add(0).cast::<u8>());
                        let result25 = match l4 {
                            0 => {
                                let e = {
                                    let l5 = i32::from(
                                        *ptr2.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                    );
                                    let v10 = match l5 {
                                        0 => {
                                            let e10 = {
                                                let l6 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<i32>();
                                                Transaction::from_handle(l6 as u32)
                                            };
                                            Begun::Fresh(e10)
                                        }
                                        n => {
                                            debug_assert_eq!(n, 1, "invalid enum discriminant");
                                            let e10 = {
                                                let l7 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l8 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len9 = l8;
                                                let bytes9 = _rt::Vec::from_raw_parts(
                                                    l7.cast(),
                                                    len9,
                                                    len9,
                                                );
                                                _rt::string_lift(bytes9)
                                            };
                                            Begun::Recorded(e10)
                                        }
                                    };
                                    v10
                                };
                                Ok(e)
                            }
                            1 => {
                                let e = {
                                    let l11 = i32::from(
                                        *ptr2.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                    );
                                    let v24 = match l11 {
                                        0 => Error::NotGranted,
                                        1 => Error::ReadOnly,
                                        2 => {
                                            let e24 = {
                                                let l12 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l13 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len14 = l13;
                                                let bytes14 = _rt::Vec::from_raw_parts(
                                                    l12.cast(),
                                                    len14,
                                                    len14,
                                                );
                                                _rt::string_lift(bytes14)
                                            };
                                            Error::Constraint(e24)
                                        }
                                        3 => Error::Busy,
                                        4 => Error::TooLarge,
                                        5 => {
                                            let e24 = {
                                                let l15 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l16 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len17 = l16;
                                                let bytes17 = _rt::Vec::from_raw_parts(
                                                    l15.cast(),
                                                    len17,
                                                    len17,
                                                );
                                                _rt::string_lift(bytes17)
                                            };
                                            Error::InvalidOutput(e24)
                                        }
                                        6 => Error::StorageFull,
                                        7 => {
                                            let e24 = {
                                                let l18 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l19 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len20 = l19;
                                                let bytes20 = _rt::Vec::from_raw_parts(
                                                    l18.cast(),
                                                    len20,
                                                    len20,
                                                );
                                                _rt::string_lift(bytes20)
                                            };
                                            Error::Forbidden(e24)
                                        }
                                        n => {
                                            debug_assert_eq!(n, 8, "invalid enum discriminant");
                                            let e24 = {
                                                let l21 = *ptr2
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l22 = *ptr2
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len23 = l22;
                                                let bytes23 = _rt::Vec::from_raw_parts(
                                                    l21.cast(),
                                                    len23,
                                                    len23,
                                                );
                                                _rt::string_lift(bytes23)
                                            };
                                            Error::Other(e24)
                                        }
                                    };
                                    v24
                                };
                                Err(e)
                            }
                            _ => _rt::invalid_enum_discriminant(),
                        };
                        result25
                    }
                }
            }
            impl Transaction {
                #[allow(unused_unsafe, clippy::all)]
                #[allow(async_fn_in_trait)]
                pub fn query(
                    &self,
                    sql: &str,
                    parameters: &[Value],
                ) -> ::core::result::Result<RowSet, Error> {
                    unsafe {
                        #[cfg_attr(target_pointer_width = "64", repr(align(8)))]
                        #[cfg_attr(target_pointer_width = "32", repr(align(4)))]
                        struct RetArea(
                            [::core::mem::MaybeUninit<
                                u8,
                            >; 5 * ::core::mem::size_of::<*const u8>()],
                        );
                        let mut ret_area = RetArea(
                            [::core::mem::MaybeUninit::uninit(); 5
                                * ::core::mem::size_of::<*const u8>()],
                        );
                        let vec0 = sql;
                        let ptr0 = vec0.as_ptr().cast::<u8>();
                        let len0 = vec0.len();
                        let vec3 = parameters;
                        let len3 = vec3.len();
                        let layout3 = _rt::alloc::Layout::from_size_align(
                                vec3.len() * (8 + 2 * ::core::mem::size_of::<*const u8>()),
                                8,
                            )
                            .unwrap();
                        let (result3, _cleanup3) = wit_bindgen::rt::Cleanup::new(
                            layout3,
                        );
                        for (i, e) in vec3.into_iter().enumerate() {
                            let base = result3
                                .add(i * (8 + 2 * ::core::mem::size_of::<*const u8>()));
                            {
                                match e {
                                    Value::Null => {
                                        *base.add(0).cast::<u8>() = (0i32) as u8;
                                    }
                                    Value::Boolean(e) => {
                                        *base.add(0).cast::<u8>() = (1i32) as u8;
                                        *base.add(8).cast::<u8>() = (match e {
                                            true => 1,
                                            false => 0,
                                        }) as u8;
                                    }
                                    Value::Integer(e) => {
                                        *base.add(0).cast::<u8>() = (2i32) as u8;
                                        *base.add(8).cast::<i64>() = _rt::as_i64(e);
                                    }
                                    Value::Real(e) => {
                                        *base.add(0).cast::<u8>() = (3i32) as u8;
                                        *base.add(8).cast::<f64>() = _rt::as_f64(e);
                                    }
                                    Value::Text(e) => {
                                        *base.add(0).cast::<u8>() = (4i32) as u8;
                                        let vec1 = e;
                                        let ptr1 = vec1.as_ptr().cast::<u8>();
                                        let len1 = vec1.len();
                                        *base
                                            .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len1;
                                        *base.add(8).cast::<*mut u8>() = ptr1.cast_mut();
                                    }
                                    Value::Blob(e) => {
                                        *base.add(0).cast::<u8>() = (5i32) as u8;
                                        let vec2 = e;
                                        let ptr2 = vec2.as_ptr().cast::<u8>();
                                        let len2 = vec2.len();
                                        *base
                                            .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len2;
                                        *base.add(8).cast::<*mut u8>() = ptr2.cast_mut();
                                    }
                                }
                            }
                        }
                        let ptr4 = ret_area.0.as_mut_ptr().cast::<u8>();
                        #[cfg(target_arch = "wasm32")]
                        #[link(wasm_import_module = "tether:tool/database@0.1.0")]
                        unsafe extern "C" {
                            #[link_name = "[method]transaction.query"]
                            fn wit_import5(
                                _: i32,
                                _: *mut u8,
                                _: usize,
                                _: *mut u8,
                                _: usize,
                                _: *mut u8,
                            );
                        }
                        #[cfg(not(target_arch = "wasm32"))]
                        unsafe extern "C" fn wit_import5(
                            _: i32,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                        ) {
                            unreachable!()
                        }
                        wit_import5(
                            (self).handle() as i32,
                            ptr0.cast_mut(),
                            len0,
                            result3,
                            len3,
                            ptr4,
                        );
                        let l6 = i32::from(*ptr4.add(0).cast::<u8>());
                        let result44 = match l6 {
                            0 => {
                                let e = {
                                    let l7 = *ptr4
                                        .add(::core::mem::size_of::<*const u8>())
                                        .cast::<*mut u8>();
                                    let l8 = *ptr4
                                        .add(2 * ::core::mem::size_of::<*const u8>())
                                        .cast::<usize>();
                                    let base12 = l7;
                                    let len12 = l8;
                                    let mut result12 = _rt::Vec::with_capacity(len12);
                                    for i in 0..len12 {
                                        let base = base12
                                            .add(i * (2 * ::core::mem::size_of::<*const u8>()));
                                        let e12 = {
                                            let l9 = *base.add(0).cast::<*mut u8>();
                                            let l10 = *base
                                                .add(::core::mem::size_of::<*const u8>())
                                                .cast::<usize>();
                                            let len11 = l10;
                                            let bytes11 = _rt::Vec::from_raw_parts(
                                                l9.cast(),
                                                len11,
                                                len11,
                                            );
                                            _rt::string_lift(bytes11)
                                        };
                                        result12.push(e12);
                                    }
                                    _rt::cabi_dealloc(
                                        base12,
                                        len12 * (2 * ::core::mem::size_of::<*const u8>()),
                                        ::core::mem::size_of::<*const u8>(),
                                    );
                                    let l13 = *ptr4
                                        .add(3 * ::core::mem::size_of::<*const u8>())
                                        .cast::<*mut u8>();
                                    let l14 = *ptr4
                                        .add(4 * ::core::mem::size_of::<*const u8>())
                                        .cast::<usize>();
                                    let base29 = l13;
                                    let len29 = l14;
                                    let mut result29 = _rt::Vec::with_capacity(len29);
                                    for i in 0..len29 {
                                        let base = base29
                                            .add(i * (2 * ::core::mem::size_of::<*const u8>()));
                                        let e29 = {
                                            let l15 = *base.add(0).cast::<*mut u8>();
                                            let l16 = *base
                                                .add(::core::mem::size_of::<*const u8>())
                                                .cast::<usize>();
                                            let base28 = l15;
                                            let len28 = l16;
                                            let mut result28 = _rt::Vec::with_capacity(len28);
                                            for i in 0..len28 {
                                                let base = base28
                                                    .add(i * (8 + 2 * ::core::mem::size_of::<*const u8>()));
                                                let e28 = {
                                                    let l17 = i32::from(*base.add(0).cast::<u8>());
                                                    let v27 = match l17 {
                                                        0 => Value::Null,
                                                        1 => {
                                                            let e27 = {
                                                                let l18 = i32::from(*base.add(8).cast::<u8>());
                                                                _rt::bool_lift(l18 as u8)
                                                            };
                                                            Value::Boolean(e27)
                                                        }
                                                        2 => {
                                                            let e27 = {
                                                                let l19 = *base.add(8).cast::<i64>();
                                                                l19
                                                            };
                                                            Value::Integer(e27)
                                                        }
                                                        3 => {
                                                            let e27 = {
                                                                let l20 = *base.add(8).cast::<f64>();
                                                                l20
                                                            };
                                                            Value::Real(e27)
                                                        }
                                                        4 => {
                                                            let e27 = {
                                                                let l21 = *base.add(8).cast::<*mut u8>();
                                                                let l22 = *base
                                                                    .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                                                    .cast::<usize>();
                                                                let len23 = l22;
                                                                let bytes23 = _rt::Vec::from_raw_parts(
                                                                    l21.cast(),
                                                                    len23,
                                                                    len23,
                                                                );
                                                                _rt::string_lift(bytes23)
                                                            };
                                                            Value::Text(e27)
                                                        }
                                                        n => {
                                                            debug_assert_eq!(n, 5, "invalid enum discriminant");
                                                            let e27 = {
                                                                let l24 = *base.add(8).cast::<*mut u8>();
                                                                let l25 = *base
                                                                    .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                                                    .cast::<usize>();
                                                                let len26 = l25;
                                                                <_ as From<
                                                                    _rt::Vec<_>,
                                                                >>::from(_rt::Vec::from_raw_parts(l24.cast(), len26, len26))
                                                            };
                                                            Value::Blob(e27)
                                                        }
                                                    };
                                                    v27
                                                };
                                                result28.push(e28);
                                            }
                                            _rt::cabi_dealloc(
                                                base28,
                                                len28 * (8 + 2 * ::core::mem::size_of::<*const u8>()),
                                                8,
                                            );
                                            result28
                                        };
                                        result29.push(e29);
                                    }
                                    _rt::cabi_dealloc(
                                        base29,
                                        len29 * (2 * ::core::mem::size_of::<*const u8>()),
                                        ::core::mem::size_of::<*const u8>(),
                                    );
                                    RowSet {
                                        columns: result12,
                                        rows: result29,
                                    }
                                };
                                Ok(e)
                            }
                            1 => {
                                let e = {
                                    let l30 = i32::from(
                                        *ptr4.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                    );
                                    let v43 = match l30 {
                                        0 => Error::NotGranted,
                                        1 => Error::ReadOnly,
                                        2 => {
                                            let e43 = {
                                                let l31 = *ptr4
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l32 = *ptr4
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len33 = l32;
                                                let bytes33 = _rt::Vec::from_raw_parts(
                                                    l31.cast(),
                                                    len33,
                                                    len33,
                                                );
                                                _rt::string_lift(bytes33)
                                            };
                                            Error::Constraint(e43)
                                        }
                                        3 => Error::Busy,
                                        4 => Error::TooLarge,
                                        5 => {
                                            let e43 = {
                                                let l34 = *ptr4
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l35 = *ptr4
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len36 = l35;
                                                let bytes36 = _rt::Vec::from_raw_parts(
                                                    l34.cast(),
                                                    len36,
                                                    len36,
                                                );
                                                _rt::string_lift(bytes36)
                                            };
                                            Error::InvalidOutput(e43)
                                        }
                                        6 => Error::StorageFull,
                                        7 => {
                                            let e43 = {
                                                let l37 = *ptr4
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l38 = *ptr4
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len39 = l38;
                                                let bytes39 = _rt::Vec::from_raw_parts(
                                                    l37.cast(),
                                                    len39,
                                                    len39,
                                                );
                                                _rt::string_lift(bytes39)
                                            };
                                            Error::Forbidden(e43)
                                        }
                                        n => {
                                            debug_assert_eq!(n, 8, "invalid enum discriminant");
                                            let e43 = {
                                                let l40 = *ptr4
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l41 = *ptr4
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len42 = l41;
                                                let bytes42 = _rt::Vec::from_raw_parts(
                                                    l40.cast(),
                                                    len42,
                                                    len42,
                                                );
                                                _rt::string_lift(bytes42)
                                            };
                                            Error::Other(e43)
                                        }
                                    };
                                    v43
                                };
                                Err(e)
                            }
                            _ => _rt::invalid_enum_discriminant(),
                        };
                        result44
                    }
                }
            }
            impl Transaction {
                #[allow(unused_unsafe, clippy::all)]
                /// The number of rows that changed.
                #[allow(async_fn_in_trait)]
                pub fn execute(
                    &self,
                    sql: &str,
                    parameters: &[Value],
                ) -> ::core::result::Result<u64, Error> {
                    unsafe {
                        #[repr(align(8))]
                        struct RetArea(
                            [::core::mem::MaybeUninit<
                                u8,
                            >; 16 + 2 * ::core::mem::size_of::<*const u8>()],
                        );
                        let mut ret_area = RetArea(
                            [::core::mem::MaybeUninit::uninit(); 16
                                + 2 * ::core::mem::size_of::<*const u8>()],
                        );
                        let vec0 = sql;
                        let ptr0 = vec0.as_ptr().cast::<u8>();
                        let len0 = vec0.len();
                        let vec3 = parameters;
                        let len3 = vec3.len();
                        let layout3 = _rt::alloc::Layout::from_size_align(
                                vec3.len() * (8 + 2 * ::core::mem::size_of::<*const u8>()),
                                8,
                            )
                            .unwrap();
                        let (result3, _cleanup3) = wit_bindgen::rt::Cleanup::new(
                            layout3,
                        );
                        for (i, e) in vec3.into_iter().enumerate() {
                            let base = result3
                                .add(i * (8 + 2 * ::core::mem::size_of::<*const u8>()));
                            {
                                match e {
                                    Value::Null => {
                                        *base.add(0).cast::<u8>() = (0i32) as u8;
                                    }
                                    Value::Boolean(e) => {
                                        *base.add(0).cast::<u8>() = (1i32) as u8;
                                        *base.add(8).cast::<u8>() = (match e {
                                            true => 1,
                                            false => 0,
                                        }) as u8;
                                    }
                                    Value::Integer(e) => {
                                        *base.add(0).cast::<u8>() = (2i32) as u8;
                                        *base.add(8).cast::<i64>() = _rt::as_i64(e);
                                    }
                                    Value::Real(e) => {
                                        *base.add(0).cast::<u8>() = (3i32) as u8;
                                        *base.add(8).cast::<f64>() = _rt::as_f64(e);
                                    }
                                    Value::Text(e) => {
                                        *base.add(0).cast::<u8>() = (4i32) as u8;
                                        let vec1 = e;
                                        let ptr1 = vec1.as_ptr().cast::<u8>();
                                        let len1 = vec1.len();
                                        *base
                                            .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len1;
                                        *base.add(8).cast::<*mut u8>() = ptr1.cast_mut();
                                    }
                                    Value::Blob(e) => {
                                        *base.add(0).cast::<u8>() = (5i32) as u8;
                                        let vec2 = e;
                                        let ptr2 = vec2.as_ptr().cast::<u8>();
                                        let len2 = vec2.len();
                                        *base
                                            .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len2;
                                        *base.add(8).cast::<*mut u8>() = ptr2.cast_mut();
                                    }
                                }
                            }
                        }
                        let ptr4 = ret_area.0.as_mut_ptr().cast::<u8>();
                        #[cfg(target_arch = "wasm32")]
                        #[link(wasm_import_module = "tether:tool/database@0.1.0")]
                        unsafe extern "C" {
                            #[link_name = "[method]transaction.execute"]
                            fn wit_import5(
                                _: i32,
                                _: *mut u8,
                                _: usize,
                                _: *mut u8,
                                _: usize,
                                _: *mut u8,
                            );
                        }
                        #[cfg(not(target_arch = "wasm32"))]
                        unsafe extern "C" fn wit_import5(
                            _: i32,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                        ) {
                            unreachable!()
                        }
                        wit_import5(
                            (self).handle() as i32,
                            ptr0.cast_mut(),
                            len0,
                            result3,
                            len3,
                            ptr4,
                        );
                        let l6 = i32::from(*ptr4.add(0).cast::<u8>());
                        let result22 = match l6 {
                            0 => {
                                let e = {
                                    let l7 = *ptr4.add(8).cast::<i64>();
                                    l7 as u64
                                };
                                Ok(e)
                            }
                            1 => {
                                let e = {
                                    let l8 = i32::from(*ptr4.add(8).cast::<u8>());
                                    let v21 = match l8 {
                                        0 => Error::NotGranted,
                                        1 => Error::ReadOnly,
                                        2 => {
                                            let e21 = {
                                                let l9 = *ptr4
                                                    .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l10 = *ptr4
                                                    .add(8 + 2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len11 = l10;
                                                let bytes11 = _rt::Vec::from_raw_parts(
                                                    l9.cast(),
                                                    len11,
                                                    len11,
                                                );
                                                _rt::string_lift(bytes11)
                                            };
                                            Error::Constraint(e21)
                                        }
                                        3 => Error::Busy,
                                        4 => Error::TooLarge,
                                        5 => {
                                            let e21 = {
                                                let l12 = *ptr4
                                                    .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l13 = *ptr4
                                                    .add(8 + 2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len14 = l13;
                                                let bytes14 = _rt::Vec::from_raw_parts(
                                                    l12.cast(),
                                                    len14,
                                                    len14,
                                                );
                                                _rt::string_lift(bytes14)
                                            };
                                            Error::InvalidOutput(e21)
                                        }
                                        6 => Error::StorageFull,
                                        7 => {
                                            let e21 = {
                                                let l15 = *ptr4
                                                    .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l16 = *ptr4
                                                    .add(8 + 2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len17 = l16;
                                                let bytes17 = _rt::Vec::from_raw_parts(
                                                    l15.cast(),
                                                    len17,
                                                    len17,
                                                );
                                                _rt::string_lift(bytes17)
                                            };
                                            Error::Forbidden(e21)
                                        }
                                        n => {
                                            debug_assert_eq!(n, 8, "invalid enum discriminant");
                                            let e21 = {
                                                let l18 = *ptr4
                                                    .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l19 = *ptr4
                                                    .add(8 + 2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len20 = l19;
                                                let bytes20 = _rt::Vec::from_raw_parts(
                                                    l18.cast(),
                                                    len20,
                                                    len20,
                                                );
                                                _rt::string_lift(bytes20)
                                            };
                                            Error::Other(e21)
                                        }
                                    };
                                    v21
                                };
                                Err(e)
                            }
                            _ => _rt::invalid_enum_discriminant(),
                        };
                        result22
                    }
                }
            }
            impl Transaction {
                #[allow(unused_unsafe, clippy::all)]
                /// Record the output under the key, and commit both or neither. When
                /// this returns ok, both survive a crash of the host.
                #[allow(async_fn_in_trait)]
                pub fn commit(
                    transaction: Transaction,
                    output: &str,
                ) -> ::core::result::Result<(), Error> {
                    unsafe {
                        #[cfg_attr(target_pointer_width = "64", repr(align(8)))]
                        #[cfg_attr(target_pointer_width = "32", repr(align(4)))]
                        struct RetArea(
                            [::core::mem::MaybeUninit<
                                u8,
                            >; 4 * ::core::mem::size_of::<*const u8>()],
                        );
                        let mut ret_area = RetArea(
                            [::core::mem::MaybeUninit::uninit(); 4
                                * ::core::mem::size_of::<*const u8>()],
                        );
                        let vec0 = output;
                        let ptr0 = vec0.as_ptr().cast::<u8>();
                        let len0 = vec0.len();
                        let ptr1 = ret_area.0.as_mut_ptr().cast::<u8>();
                        #[cfg(target_arch = "wasm32")]
                        #[link(wasm_import_module = "tether:tool/database@0.1.0")]
                        unsafe extern "C" {
                            #[link_name = "[static]transaction.commit"]
                            fn wit_import2(_: i32, _: *mut u8, _: usize, _: *mut u8);
                        }
                        #[cfg(not(target_arch = "wasm32"))]
                        unsafe extern "C" fn wit_import2(
                            _: i32,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                        ) {
                            unreachable!()
                        }
                        wit_import2(
                            (&transaction).take_handle() as i32,
                            ptr0.cast_mut(),
                            len0,
                            ptr1,
                        );
                        let l3 = i32::from(*ptr1.add(0).cast::<u8>());
                        let result18 = match l3 {
                            0 => {
                                let e = ();
                                Ok(e)
                            }
                            1 => {
                                let e = {
                                    let l4 = i32::from(
                                        *ptr1.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                    );
                                    let v17 = match l4 {
                                        0 => Error::NotGranted,
                                        1 => Error::ReadOnly,
                                        2 => {
                                            let e17 = {
                                                let l5 = *ptr1
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l6 = *ptr1
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len7 = l6;
                                                let bytes7 = _rt::Vec::from_raw_parts(
                                                    l5.cast(),
                                                    len7,
                                                    len7,
                                                );
                                                _rt::string_lift(bytes7)
                                            };
                                            Error::Constraint(e17)
                                        }
                                        3 => Error::Busy,
                                        4 => Error::TooLarge,
                                        5 => {
                                            let e17 = {
                                                let l8 = *ptr1
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l9 = *ptr1
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len10 = l9;
                                                let bytes10 = _rt::Vec::from_raw_parts(
                                                    l8.cast(),
                                                    len10,
                                                    len10,
                                                );
                                                _rt::string_lift(bytes10)
                                            };
                                            Error::InvalidOutput(e17)
                                        }
                                        6 => Error::StorageFull,
                                        7 => {
                                            let e17 = {
                                                let l11 = *ptr1
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l12 = *ptr1
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len13 = l12;
                                                let bytes13 = _rt::Vec::from_raw_parts(
                                                    l11.cast(),
                                                    len13,
                                                    len13,
                                                );
                                                _rt::string_lift(bytes13)
                                            };
                                            Error::Forbidden(e17)
                                        }
                                        n => {
                                            debug_assert_eq!(n, 8, "invalid enum discriminant");
                                            let e17 = {
                                                let l14 = *ptr1
                                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<*mut u8>();
                                                let l15 = *ptr1
                                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<usize>();
                                                let len16 = l15;
                                                let bytes16 = _rt::Vec::from_raw_parts(
                                                    l14.cast(),
                                                    len16,
                                                    len16,
                                                );
                                                _rt::string_lift(bytes16)
                                            };
                                            Error::Other(e17)
                                        }
                                    };
                                    v17
                                };
                                Err(e)
                            }
                            _ => _rt::invalid_enum_discriminant(),
                        };
                        result18
                    }
                }
            }
        }
        /// Outbound HTTP under the host's transport policy.
        ///
        /// In a read the host repeats a request after a timeout, a failure to connect
        /// or a status of 408, 429, 502, 503 or 504, while the call's retry budget
        /// lasts. In a confirmed write it sends each request at most once. Every
        /// request carries `X-Tether-Idempotency-Key`.
        #[allow(dead_code, async_fn_in_trait, unused_imports, clippy::all)]
        pub mod transport {
            #[used]
            #[doc(hidden)]
            static __FORCE_SECTION_REF: fn() = super::super::super::__link_custom_section_describing_imports;
            use super::super::super::_rt;
            #[derive(Clone)]
            pub struct Request {
                pub method: _rt::String,
                pub url: _rt::String,
                pub headers: _rt::Vec<(_rt::String, _rt::String)>,
                pub body: _rt::Vec<u8>,
                /// Names this request within a write that sends several: each step has
                /// a key of its own, the same in every attempt. In one attempt of a
                /// write, a second unsafe request with the same step is denied.
                pub step: ::core::option::Option<_rt::String>,
            }
            impl ::core::fmt::Debug for Request {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    f.debug_struct("Request")
                        .field("method", &self.method)
                        .field("url", &self.url)
                        .field("headers", &self.headers)
                        .field("body", &self.body)
                        .field("step", &self.step)
                        .finish()
                }
            }
            /// Whatever its status; after retries, the last one's.
            #[derive(Clone)]
            pub struct Response {
                pub status: u16,
                pub headers: _rt::Vec<(_rt::String, _rt::String)>,
                pub body: _rt::Vec<u8>,
            }
            impl ::core::fmt::Debug for Response {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    f.debug_struct("Response")
                        .field("status", &self.status)
                        .field("headers", &self.headers)
                        .field("body", &self.body)
                        .finish()
                }
            }
            #[derive(Clone)]
            pub enum Error {
                /// The operator granted no such destination or method, or the request
                /// is malformed. Nothing was sent.
                Denied(_rt::String),
                /// Nothing was sent: the connection could not be made.
                NotSent(_rt::String),
                /// The request left, and no whole answer came back: it may have acted.
                OutcomeUnknown(_rt::String),
                /// The answer is over the host's limit; the limit in bytes.
                TooLarge(u64),
                /// A transaction is open. Commit or drop it first: a database is never
                /// held across the network.
                TransactionOpen,
            }
            impl ::core::fmt::Debug for Error {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    match self {
                        Error::Denied(e) => {
                            f.debug_tuple("Error::Denied").field(e).finish()
                        }
                        Error::NotSent(e) => {
                            f.debug_tuple("Error::NotSent").field(e).finish()
                        }
                        Error::OutcomeUnknown(e) => {
                            f.debug_tuple("Error::OutcomeUnknown").field(e).finish()
                        }
                        Error::TooLarge(e) => {
                            f.debug_tuple("Error::TooLarge").field(e).finish()
                        }
                        Error::TransactionOpen => {
                            f.debug_tuple("Error::TransactionOpen").finish()
                        }
                    }
                }
            }
            impl ::core::fmt::Display for Error {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    write!(f, "{:?}", self)
                }
            }
            impl ::core::error::Error for Error {}
            #[allow(unused_unsafe, clippy::all)]
            #[allow(async_fn_in_trait)]
            pub fn send(request: &Request) -> ::core::result::Result<Response, Error> {
                unsafe {
                    #[repr(align(8))]
                    struct RetArea(
                        [::core::mem::MaybeUninit<
                            u8,
                        >; 16 + 4 * ::core::mem::size_of::<*const u8>()],
                    );
                    let mut ret_area = RetArea(
                        [::core::mem::MaybeUninit::uninit(); 16
                            + 4 * ::core::mem::size_of::<*const u8>()],
                    );
                    let Request {
                        method: method0,
                        url: url0,
                        headers: headers0,
                        body: body0,
                        step: step0,
                    } = request;
                    let vec1 = method0;
                    let ptr1 = vec1.as_ptr().cast::<u8>();
                    let len1 = vec1.len();
                    let vec2 = url0;
                    let ptr2 = vec2.as_ptr().cast::<u8>();
                    let len2 = vec2.len();
                    let vec6 = headers0;
                    let len6 = vec6.len();
                    let layout6 = _rt::alloc::Layout::from_size_align(
                            vec6.len() * (4 * ::core::mem::size_of::<*const u8>()),
                            ::core::mem::size_of::<*const u8>(),
                        )
                        .unwrap();
                    let (result6, _cleanup6) = wit_bindgen::rt::Cleanup::new(layout6);
                    for (i, e) in vec6.into_iter().enumerate() {
                        let base = result6
                            .add(i * (4 * ::core::mem::size_of::<*const u8>()));
                        {
                            let (t3_0, t3_1) = e;
                            let vec4 = t3_0;
                            let ptr4 = vec4.as_ptr().cast::<u8>();
                            let len4 = vec4.len();
                            *base
                                .add(::core::mem::size_of::<*const u8>())
                                .cast::<usize>() = len4;
                            *base.add(0).cast::<*mut u8>() = ptr4.cast_mut();
                            let vec5 = t3_1;
                            let ptr5 = vec5.as_ptr().cast::<u8>();
                            let len5 = vec5.len();
                            *base
                                .add(3 * ::core::mem::size_of::<*const u8>())
                                .cast::<usize>() = len5;
                            *base
                                .add(2 * ::core::mem::size_of::<*const u8>())
                                .cast::<*mut u8>() = ptr5.cast_mut();
                        }
                    }
                    let vec7 = body0;
                    let ptr7 = vec7.as_ptr().cast::<u8>();
                    let len7 = vec7.len();
                    let (result9_0, result9_1, result9_2) = match step0 {
                        Some(e) => {
                            let vec8 = e;
                            let ptr8 = vec8.as_ptr().cast::<u8>();
                            let len8 = vec8.len();
                            (1i32, ptr8.cast_mut(), len8)
                        }
                        None => (0i32, ::core::ptr::null_mut(), 0usize),
                    };
                    let ptr10 = ret_area.0.as_mut_ptr().cast::<u8>();
                    #[cfg(target_arch = "wasm32")]
                    #[link(wasm_import_module = "tether:tool/transport@0.1.0")]
                    unsafe extern "C" {
                        #[link_name = "send"]
                        fn wit_import11(
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                            _: usize,
                            _: i32,
                            _: *mut u8,
                            _: usize,
                            _: *mut u8,
                        );
                    }
                    #[cfg(not(target_arch = "wasm32"))]
                    unsafe extern "C" fn wit_import11(
                        _: *mut u8,
                        _: usize,
                        _: *mut u8,
                        _: usize,
                        _: *mut u8,
                        _: usize,
                        _: *mut u8,
                        _: usize,
                        _: i32,
                        _: *mut u8,
                        _: usize,
                        _: *mut u8,
                    ) {
                        unreachable!()
                    }
                    wit_import11(
                        ptr1.cast_mut(),
                        len1,
                        ptr2.cast_mut(),
                        len2,
                        result6,
                        len6,
                        ptr7.cast_mut(),
                        len7,
                        result9_0,
                        result9_1,
                        result9_2,
                        ptr10,
                    );
                    let l12 = i32::from(*ptr10.add(0).cast::<u8>());
                    let result38 = match l12 {
                        0 => {
                            let e = {
                                let l13 = i32::from(*ptr10.add(8).cast::<u16>());
                                let l14 = *ptr10
                                    .add(8 + 1 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>();
                                let l15 = *ptr10
                                    .add(8 + 2 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>();
                                let base22 = l14;
                                let len22 = l15;
                                let mut result22 = _rt::Vec::with_capacity(len22);
                                for i in 0..len22 {
                                    let base = base22
                                        .add(i * (4 * ::core::mem::size_of::<*const u8>()));
                                    let e22 = {
                                        let l16 = *base.add(0).cast::<*mut u8>();
                                        let l17 = *base
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        let len18 = l17;
                                        let bytes18 = _rt::Vec::from_raw_parts(
                                            l16.cast(),
                                            len18,
                                            len18,
                                        );
                                        let l19 = *base
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l20 = *base
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        let len21 = l20;
                                        let bytes21 = _rt::Vec::from_raw_parts(
                                            l19.cast(),
                                            len21,
                                            len21,
                                        );
                                        (_rt::string_lift(bytes18), _rt::string_lift(bytes21))
                                    };
                                    result22.push(e22);
                                }
                                _rt::cabi_dealloc(
                                    base22,
                                    len22 * (4 * ::core::mem::size_of::<*const u8>()),
                                    ::core::mem::size_of::<*const u8>(),
                                );
                                let l23 = *ptr10
                                    .add(8 + 3 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>();
                                let l24 = *ptr10
                                    .add(8 + 4 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>();
                                let len25 = l24;
                                Response {
                                    status: l13 as u16,
                                    headers: result22,
                                    body: <_ as From<
                                        _rt::Vec<_>,
                                    >>::from(_rt::Vec::from_raw_parts(l23.cast(), len25, len25)),
                                }
                            };
                            Ok(e)
                        }
                        1 => {
                            let e = {
                                let l26 = i32::from(*ptr10.add(8).cast::<u8>());
                                let v37 = match l26 {
                                    0 => {
                                        let e37 = {
                                            let l27 = *ptr10.add(16).cast::<*mut u8>();
                                            let l28 = *ptr10
                                                .add(16 + 1 * ::core::mem::size_of::<*const u8>())
                                                .cast::<usize>();
                                            let len29 = l28;
                                            let bytes29 = _rt::Vec::from_raw_parts(
                                                l27.cast(),
                                                len29,
                                                len29,
                                            );
                                            _rt::string_lift(bytes29)
                                        };
                                        Error::Denied(e37)
                                    }
                                    1 => {
                                        let e37 = {
                                            let l30 = *ptr10.add(16).cast::<*mut u8>();
                                            let l31 = *ptr10
                                                .add(16 + 1 * ::core::mem::size_of::<*const u8>())
                                                .cast::<usize>();
                                            let len32 = l31;
                                            let bytes32 = _rt::Vec::from_raw_parts(
                                                l30.cast(),
                                                len32,
                                                len32,
                                            );
                                            _rt::string_lift(bytes32)
                                        };
                                        Error::NotSent(e37)
                                    }
                                    2 => {
                                        let e37 = {
                                            let l33 = *ptr10.add(16).cast::<*mut u8>();
                                            let l34 = *ptr10
                                                .add(16 + 1 * ::core::mem::size_of::<*const u8>())
                                                .cast::<usize>();
                                            let len35 = l34;
                                            let bytes35 = _rt::Vec::from_raw_parts(
                                                l33.cast(),
                                                len35,
                                                len35,
                                            );
                                            _rt::string_lift(bytes35)
                                        };
                                        Error::OutcomeUnknown(e37)
                                    }
                                    3 => {
                                        let e37 = {
                                            let l36 = *ptr10.add(16).cast::<i64>();
                                            l36 as u64
                                        };
                                        Error::TooLarge(e37)
                                    }
                                    n => {
                                        debug_assert_eq!(n, 4, "invalid enum discriminant");
                                        Error::TransactionOpen
                                    }
                                };
                                v37
                            };
                            Err(e)
                        }
                        _ => _rt::invalid_enum_discriminant(),
                    };
                    result38
                }
            }
        }
    }
}
#[allow(dead_code, clippy::all)]
pub mod exports {
    pub mod tether {
        pub mod tool {
            /// Exported by the component, called by the host. Every call runs in a fresh
            /// instance: nothing that a component keeps in memory outlives the call.
            #[allow(dead_code, async_fn_in_trait, unused_imports, clippy::all)]
            pub mod handler {
                #[used]
                #[doc(hidden)]
                static __FORCE_SECTION_REF: fn() = super::super::super::super::__link_custom_section_describing_imports;
                use super::super::super::super::_rt;
                pub type Json = super::super::super::super::tether::tool::types::Json;
                pub type Manifest = super::super::super::super::tether::tool::types::Manifest;
                pub type Invocation = super::super::super::super::tether::tool::types::Invocation;
                pub type ToolError = super::super::super::super::tether::tool::types::ToolError;
                #[doc(hidden)]
                #[allow(non_snake_case, unused_unsafe)]
                pub unsafe fn _export_describe_cabi<T_: Guest>() -> *mut u8 {
                    unsafe {
                        #[cfg(target_arch = "wasm32")] _rt::run_ctors_once();
                        let result0 = { T_::describe() };
                        let ptr1 = (&raw mut _RET_AREA.0).cast::<u8>();
                        let super::super::super::super::tether::tool::types::Manifest {
                            tools: tools2,
                            migrations: migrations2,
                        } = result0;
                        let vec9 = tools2;
                        let len9 = vec9.len();
                        let layout9 = _rt::alloc::Layout::from_size_align(
                                vec9.len() * (13 * ::core::mem::size_of::<*const u8>()),
                                ::core::mem::size_of::<*const u8>(),
                            )
                            .unwrap();
                        let (result9, _cleanup9) = wit_bindgen::rt::Cleanup::new(
                            layout9,
                        );
                        if let Some(cleanup) = _cleanup9 {
                            cleanup.forget();
                        }
                        for (i, e) in vec9.into_iter().enumerate() {
                            let base = result9
                                .add(i * (13 * ::core::mem::size_of::<*const u8>()));
                            {
                                let super::super::super::super::tether::tool::types::Tool {
                                    name: name3,
                                    title: title3,
                                    description: description3,
                                    effect: effect3,
                                    input_schema: input_schema3,
                                    output_schema: output_schema3,
                                } = e;
                                let vec4 = (name3.into_bytes()).into_boxed_slice();
                                let ptr4 = vec4.as_ptr().cast::<u8>();
                                let len4 = vec4.len();
                                ::core::mem::forget(vec4);
                                *base
                                    .add(::core::mem::size_of::<*const u8>())
                                    .cast::<usize>() = len4;
                                *base.add(0).cast::<*mut u8>() = ptr4.cast_mut();
                                match title3 {
                                    Some(e) => {
                                        *base
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (1i32) as u8;
                                        let vec5 = (e.into_bytes()).into_boxed_slice();
                                        let ptr5 = vec5.as_ptr().cast::<u8>();
                                        let len5 = vec5.len();
                                        ::core::mem::forget(vec5);
                                        *base
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len5;
                                        *base
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr5.cast_mut();
                                    }
                                    None => {
                                        *base
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (0i32) as u8;
                                    }
                                };
                                let vec6 = (description3.into_bytes()).into_boxed_slice();
                                let ptr6 = vec6.as_ptr().cast::<u8>();
                                let len6 = vec6.len();
                                ::core::mem::forget(vec6);
                                *base
                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>() = len6;
                                *base
                                    .add(5 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>() = ptr6.cast_mut();
                                *base
                                    .add(7 * ::core::mem::size_of::<*const u8>())
                                    .cast::<u8>() = (effect3.clone() as i32) as u8;
                                let vec7 = (input_schema3.into_bytes()).into_boxed_slice();
                                let ptr7 = vec7.as_ptr().cast::<u8>();
                                let len7 = vec7.len();
                                ::core::mem::forget(vec7);
                                *base
                                    .add(9 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>() = len7;
                                *base
                                    .add(8 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>() = ptr7.cast_mut();
                                match output_schema3 {
                                    Some(e) => {
                                        *base
                                            .add(10 * ::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (1i32) as u8;
                                        let vec8 = (e.into_bytes()).into_boxed_slice();
                                        let ptr8 = vec8.as_ptr().cast::<u8>();
                                        let len8 = vec8.len();
                                        ::core::mem::forget(vec8);
                                        *base
                                            .add(12 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len8;
                                        *base
                                            .add(11 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr8.cast_mut();
                                    }
                                    None => {
                                        *base
                                            .add(10 * ::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (0i32) as u8;
                                    }
                                };
                            }
                        }
                        *ptr1.add(::core::mem::size_of::<*const u8>()).cast::<usize>() = len9;
                        *ptr1.add(0).cast::<*mut u8>() = result9;
                        let vec14 = migrations2;
                        let len14 = vec14.len();
                        let layout14 = _rt::alloc::Layout::from_size_align(
                                vec14.len() * (6 * ::core::mem::size_of::<*const u8>()),
                                ::core::mem::size_of::<*const u8>(),
                            )
                            .unwrap();
                        let (result14, _cleanup14) = wit_bindgen::rt::Cleanup::new(
                            layout14,
                        );
                        if let Some(cleanup) = _cleanup14 {
                            cleanup.forget();
                        }
                        for (i, e) in vec14.into_iter().enumerate() {
                            let base = result14
                                .add(i * (6 * ::core::mem::size_of::<*const u8>()));
                            {
                                let super::super::super::super::tether::tool::types::Migration {
                                    database: database10,
                                    id: id10,
                                    sql: sql10,
                                } = e;
                                let vec11 = (database10.into_bytes()).into_boxed_slice();
                                let ptr11 = vec11.as_ptr().cast::<u8>();
                                let len11 = vec11.len();
                                ::core::mem::forget(vec11);
                                *base
                                    .add(::core::mem::size_of::<*const u8>())
                                    .cast::<usize>() = len11;
                                *base.add(0).cast::<*mut u8>() = ptr11.cast_mut();
                                let vec12 = (id10.into_bytes()).into_boxed_slice();
                                let ptr12 = vec12.as_ptr().cast::<u8>();
                                let len12 = vec12.len();
                                ::core::mem::forget(vec12);
                                *base
                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>() = len12;
                                *base
                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>() = ptr12.cast_mut();
                                let vec13 = (sql10.into_bytes()).into_boxed_slice();
                                let ptr13 = vec13.as_ptr().cast::<u8>();
                                let len13 = vec13.len();
                                ::core::mem::forget(vec13);
                                *base
                                    .add(5 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>() = len13;
                                *base
                                    .add(4 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>() = ptr13.cast_mut();
                            }
                        }
                        *ptr1
                            .add(3 * ::core::mem::size_of::<*const u8>())
                            .cast::<usize>() = len14;
                        *ptr1
                            .add(2 * ::core::mem::size_of::<*const u8>())
                            .cast::<*mut u8>() = result14;
                        ptr1
                    }
                }
                #[doc(hidden)]
                #[allow(non_snake_case)]
                pub unsafe fn __post_return_describe<T_: Guest>(arg0: *mut u8) {
                    unsafe {
                        let l0 = *arg0.add(0).cast::<*mut u8>();
                        let l1 = *arg0
                            .add(::core::mem::size_of::<*const u8>())
                            .cast::<usize>();
                        let base14 = l0;
                        let len14 = l1;
                        for i in 0..len14 {
                            let base = base14
                                .add(i * (13 * ::core::mem::size_of::<*const u8>()));
                            {
                                let l2 = *base.add(0).cast::<*mut u8>();
                                let l3 = *base
                                    .add(::core::mem::size_of::<*const u8>())
                                    .cast::<usize>();
                                _rt::cabi_dealloc(l2, l3, 1);
                                let l4 = i32::from(
                                    *base
                                        .add(2 * ::core::mem::size_of::<*const u8>())
                                        .cast::<u8>(),
                                );
                                match l4 {
                                    0 => {}
                                    _ => {
                                        let l5 = *base
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l6 = *base
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l5, l6, 1);
                                    }
                                }
                                let l7 = *base
                                    .add(5 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>();
                                let l8 = *base
                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>();
                                _rt::cabi_dealloc(l7, l8, 1);
                                let l9 = *base
                                    .add(8 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>();
                                let l10 = *base
                                    .add(9 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>();
                                _rt::cabi_dealloc(l9, l10, 1);
                                let l11 = i32::from(
                                    *base
                                        .add(10 * ::core::mem::size_of::<*const u8>())
                                        .cast::<u8>(),
                                );
                                match l11 {
                                    0 => {}
                                    _ => {
                                        let l12 = *base
                                            .add(11 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l13 = *base
                                            .add(12 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l12, l13, 1);
                                    }
                                }
                            }
                        }
                        _rt::cabi_dealloc(
                            base14,
                            len14 * (13 * ::core::mem::size_of::<*const u8>()),
                            ::core::mem::size_of::<*const u8>(),
                        );
                        let l15 = *arg0
                            .add(2 * ::core::mem::size_of::<*const u8>())
                            .cast::<*mut u8>();
                        let l16 = *arg0
                            .add(3 * ::core::mem::size_of::<*const u8>())
                            .cast::<usize>();
                        let base23 = l15;
                        let len23 = l16;
                        for i in 0..len23 {
                            let base = base23
                                .add(i * (6 * ::core::mem::size_of::<*const u8>()));
                            {
                                let l17 = *base.add(0).cast::<*mut u8>();
                                let l18 = *base
                                    .add(::core::mem::size_of::<*const u8>())
                                    .cast::<usize>();
                                _rt::cabi_dealloc(l17, l18, 1);
                                let l19 = *base
                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>();
                                let l20 = *base
                                    .add(3 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>();
                                _rt::cabi_dealloc(l19, l20, 1);
                                let l21 = *base
                                    .add(4 * ::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>();
                                let l22 = *base
                                    .add(5 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>();
                                _rt::cabi_dealloc(l21, l22, 1);
                            }
                        }
                        _rt::cabi_dealloc(
                            base23,
                            len23 * (6 * ::core::mem::size_of::<*const u8>()),
                            ::core::mem::size_of::<*const u8>(),
                        );
                    }
                }
                #[doc(hidden)]
                #[allow(non_snake_case, unused_unsafe)]
                pub unsafe fn _export_preview_cabi<T_: Guest>(
                    arg0: *mut u8,
                    arg1: usize,
                    arg2: *mut u8,
                    arg3: usize,
                    arg4: *mut u8,
                    arg5: usize,
                    arg6: *mut u8,
                    arg7: usize,
                    arg8: *mut u8,
                    arg9: usize,
                    arg10: i32,
                    arg11: i32,
                ) -> *mut u8 {
                    unsafe {
                        #[cfg(target_arch = "wasm32")] _rt::run_ctors_once();
                        let result5 = {
                            let len0 = arg1;
                            let bytes0 = _rt::Vec::from_raw_parts(
                                arg0.cast(),
                                len0,
                                len0,
                            );
                            let len1 = arg3;
                            let bytes1 = _rt::Vec::from_raw_parts(
                                arg2.cast(),
                                len1,
                                len1,
                            );
                            let len2 = arg5;
                            let bytes2 = _rt::Vec::from_raw_parts(
                                arg4.cast(),
                                len2,
                                len2,
                            );
                            let len3 = arg7;
                            let bytes3 = _rt::Vec::from_raw_parts(
                                arg6.cast(),
                                len3,
                                len3,
                            );
                            let len4 = arg9;
                            let bytes4 = _rt::Vec::from_raw_parts(
                                arg8.cast(),
                                len4,
                                len4,
                            );
                            T_::preview(super::super::super::super::tether::tool::types::Invocation {
                                request_id: _rt::string_lift(bytes0),
                                tool: _rt::string_lift(bytes1),
                                tenant: _rt::string_lift(bytes2),
                                user: _rt::string_lift(bytes3),
                                arguments: _rt::string_lift(bytes4),
                                attempt: arg10 as u32,
                                timeout_ms: arg11 as u32,
                            })
                        };
                        let ptr6 = (&raw mut _RET_AREA.0).cast::<u8>();
                        match result5 {
                            Ok(e) => {
                                *ptr6.add(0).cast::<u8>() = (0i32) as u8;
                                match e {
                                    Some(e) => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (1i32) as u8;
                                        let vec7 = (e.into_bytes()).into_boxed_slice();
                                        let ptr7 = vec7.as_ptr().cast::<u8>();
                                        let len7 = vec7.len();
                                        ::core::mem::forget(vec7);
                                        *ptr6
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len7;
                                        *ptr6
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr7.cast_mut();
                                    }
                                    None => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (0i32) as u8;
                                    }
                                };
                            }
                            Err(e) => {
                                *ptr6.add(0).cast::<u8>() = (1i32) as u8;
                                use super::super::super::super::tether::tool::types::ToolError as V18;
                                match e {
                                    V18::InvalidArguments(e) => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (0i32) as u8;
                                        let vec8 = (e.into_bytes()).into_boxed_slice();
                                        let ptr8 = vec8.as_ptr().cast::<u8>();
                                        let len8 = vec8.len();
                                        ::core::mem::forget(vec8);
                                        *ptr6
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len8;
                                        *ptr6
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr8.cast_mut();
                                    }
                                    V18::Refused(e) => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (1i32) as u8;
                                        let super::super::super::super::tether::tool::types::Fault {
                                            code: code9,
                                            message: message9,
                                            retry_after_ms: retry_after_ms9,
                                        } = e;
                                        let vec10 = (code9.into_bytes()).into_boxed_slice();
                                        let ptr10 = vec10.as_ptr().cast::<u8>();
                                        let len10 = vec10.len();
                                        ::core::mem::forget(vec10);
                                        *ptr6
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len10;
                                        *ptr6
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr10.cast_mut();
                                        let vec11 = (message9.into_bytes()).into_boxed_slice();
                                        let ptr11 = vec11.as_ptr().cast::<u8>();
                                        let len11 = vec11.len();
                                        ::core::mem::forget(vec11);
                                        *ptr6
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len11;
                                        *ptr6
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr11.cast_mut();
                                        match retry_after_ms9 {
                                            Some(e) => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (1i32) as u8;
                                                *ptr6
                                                    .add(4 + 6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<i32>() = _rt::as_i32(e);
                                            }
                                            None => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (0i32) as u8;
                                            }
                                        };
                                    }
                                    V18::Transient(e) => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (2i32) as u8;
                                        let super::super::super::super::tether::tool::types::Fault {
                                            code: code12,
                                            message: message12,
                                            retry_after_ms: retry_after_ms12,
                                        } = e;
                                        let vec13 = (code12.into_bytes()).into_boxed_slice();
                                        let ptr13 = vec13.as_ptr().cast::<u8>();
                                        let len13 = vec13.len();
                                        ::core::mem::forget(vec13);
                                        *ptr6
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len13;
                                        *ptr6
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr13.cast_mut();
                                        let vec14 = (message12.into_bytes()).into_boxed_slice();
                                        let ptr14 = vec14.as_ptr().cast::<u8>();
                                        let len14 = vec14.len();
                                        ::core::mem::forget(vec14);
                                        *ptr6
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len14;
                                        *ptr6
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr14.cast_mut();
                                        match retry_after_ms12 {
                                            Some(e) => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (1i32) as u8;
                                                *ptr6
                                                    .add(4 + 6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<i32>() = _rt::as_i32(e);
                                            }
                                            None => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (0i32) as u8;
                                            }
                                        };
                                    }
                                    V18::Failed(e) => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (3i32) as u8;
                                        let super::super::super::super::tether::tool::types::Fault {
                                            code: code15,
                                            message: message15,
                                            retry_after_ms: retry_after_ms15,
                                        } = e;
                                        let vec16 = (code15.into_bytes()).into_boxed_slice();
                                        let ptr16 = vec16.as_ptr().cast::<u8>();
                                        let len16 = vec16.len();
                                        ::core::mem::forget(vec16);
                                        *ptr6
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len16;
                                        *ptr6
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr16.cast_mut();
                                        let vec17 = (message15.into_bytes()).into_boxed_slice();
                                        let ptr17 = vec17.as_ptr().cast::<u8>();
                                        let len17 = vec17.len();
                                        ::core::mem::forget(vec17);
                                        *ptr6
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len17;
                                        *ptr6
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr17.cast_mut();
                                        match retry_after_ms15 {
                                            Some(e) => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (1i32) as u8;
                                                *ptr6
                                                    .add(4 + 6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<i32>() = _rt::as_i32(e);
                                            }
                                            None => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (0i32) as u8;
                                            }
                                        };
                                    }
                                }
                            }
                        };
                        ptr6
                    }
                }
                #[doc(hidden)]
                #[allow(non_snake_case)]
                pub unsafe fn __post_return_preview<T_: Guest>(arg0: *mut u8) {
                    unsafe {
                        let l0 = i32::from(*arg0.add(0).cast::<u8>());
                        match l0 {
                            0 => {
                                let l1 = i32::from(
                                    *arg0.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                );
                                match l1 {
                                    0 => {}
                                    _ => {
                                        let l2 = *arg0
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l3 = *arg0
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l2, l3, 1);
                                    }
                                }
                            }
                            _ => {
                                let l4 = i32::from(
                                    *arg0.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                );
                                match l4 {
                                    0 => {
                                        let l5 = *arg0
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l6 = *arg0
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l5, l6, 1);
                                    }
                                    1 => {
                                        let l7 = *arg0
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l8 = *arg0
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l7, l8, 1);
                                        let l9 = *arg0
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l10 = *arg0
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l9, l10, 1);
                                    }
                                    2 => {
                                        let l11 = *arg0
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l12 = *arg0
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l11, l12, 1);
                                        let l13 = *arg0
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l14 = *arg0
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l13, l14, 1);
                                    }
                                    _ => {
                                        let l15 = *arg0
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l16 = *arg0
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l15, l16, 1);
                                        let l17 = *arg0
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l18 = *arg0
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l17, l18, 1);
                                    }
                                }
                            }
                        }
                    }
                }
                #[doc(hidden)]
                #[allow(non_snake_case, unused_unsafe)]
                pub unsafe fn _export_invoke_cabi<T_: Guest>(
                    arg0: *mut u8,
                    arg1: usize,
                    arg2: *mut u8,
                    arg3: usize,
                    arg4: *mut u8,
                    arg5: usize,
                    arg6: *mut u8,
                    arg7: usize,
                    arg8: *mut u8,
                    arg9: usize,
                    arg10: i32,
                    arg11: i32,
                ) -> *mut u8 {
                    unsafe {
                        #[cfg(target_arch = "wasm32")] _rt::run_ctors_once();
                        let result5 = {
                            let len0 = arg1;
                            let bytes0 = _rt::Vec::from_raw_parts(
                                arg0.cast(),
                                len0,
                                len0,
                            );
                            let len1 = arg3;
                            let bytes1 = _rt::Vec::from_raw_parts(
                                arg2.cast(),
                                len1,
                                len1,
                            );
                            let len2 = arg5;
                            let bytes2 = _rt::Vec::from_raw_parts(
                                arg4.cast(),
                                len2,
                                len2,
                            );
                            let len3 = arg7;
                            let bytes3 = _rt::Vec::from_raw_parts(
                                arg6.cast(),
                                len3,
                                len3,
                            );
                            let len4 = arg9;
                            let bytes4 = _rt::Vec::from_raw_parts(
                                arg8.cast(),
                                len4,
                                len4,
                            );
                            T_::invoke(super::super::super::super::tether::tool::types::Invocation {
                                request_id: _rt::string_lift(bytes0),
                                tool: _rt::string_lift(bytes1),
                                tenant: _rt::string_lift(bytes2),
                                user: _rt::string_lift(bytes3),
                                arguments: _rt::string_lift(bytes4),
                                attempt: arg10 as u32,
                                timeout_ms: arg11 as u32,
                            })
                        };
                        let ptr6 = (&raw mut _RET_AREA.0).cast::<u8>();
                        match result5 {
                            Ok(e) => {
                                *ptr6.add(0).cast::<u8>() = (0i32) as u8;
                                let vec7 = (e.into_bytes()).into_boxed_slice();
                                let ptr7 = vec7.as_ptr().cast::<u8>();
                                let len7 = vec7.len();
                                ::core::mem::forget(vec7);
                                *ptr6
                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>() = len7;
                                *ptr6
                                    .add(::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>() = ptr7.cast_mut();
                            }
                            Err(e) => {
                                *ptr6.add(0).cast::<u8>() = (1i32) as u8;
                                use super::super::super::super::tether::tool::types::ToolError as V18;
                                match e {
                                    V18::InvalidArguments(e) => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (0i32) as u8;
                                        let vec8 = (e.into_bytes()).into_boxed_slice();
                                        let ptr8 = vec8.as_ptr().cast::<u8>();
                                        let len8 = vec8.len();
                                        ::core::mem::forget(vec8);
                                        *ptr6
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len8;
                                        *ptr6
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr8.cast_mut();
                                    }
                                    V18::Refused(e) => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (1i32) as u8;
                                        let super::super::super::super::tether::tool::types::Fault {
                                            code: code9,
                                            message: message9,
                                            retry_after_ms: retry_after_ms9,
                                        } = e;
                                        let vec10 = (code9.into_bytes()).into_boxed_slice();
                                        let ptr10 = vec10.as_ptr().cast::<u8>();
                                        let len10 = vec10.len();
                                        ::core::mem::forget(vec10);
                                        *ptr6
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len10;
                                        *ptr6
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr10.cast_mut();
                                        let vec11 = (message9.into_bytes()).into_boxed_slice();
                                        let ptr11 = vec11.as_ptr().cast::<u8>();
                                        let len11 = vec11.len();
                                        ::core::mem::forget(vec11);
                                        *ptr6
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len11;
                                        *ptr6
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr11.cast_mut();
                                        match retry_after_ms9 {
                                            Some(e) => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (1i32) as u8;
                                                *ptr6
                                                    .add(4 + 6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<i32>() = _rt::as_i32(e);
                                            }
                                            None => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (0i32) as u8;
                                            }
                                        };
                                    }
                                    V18::Transient(e) => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (2i32) as u8;
                                        let super::super::super::super::tether::tool::types::Fault {
                                            code: code12,
                                            message: message12,
                                            retry_after_ms: retry_after_ms12,
                                        } = e;
                                        let vec13 = (code12.into_bytes()).into_boxed_slice();
                                        let ptr13 = vec13.as_ptr().cast::<u8>();
                                        let len13 = vec13.len();
                                        ::core::mem::forget(vec13);
                                        *ptr6
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len13;
                                        *ptr6
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr13.cast_mut();
                                        let vec14 = (message12.into_bytes()).into_boxed_slice();
                                        let ptr14 = vec14.as_ptr().cast::<u8>();
                                        let len14 = vec14.len();
                                        ::core::mem::forget(vec14);
                                        *ptr6
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len14;
                                        *ptr6
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr14.cast_mut();
                                        match retry_after_ms12 {
                                            Some(e) => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (1i32) as u8;
                                                *ptr6
                                                    .add(4 + 6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<i32>() = _rt::as_i32(e);
                                            }
                                            None => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (0i32) as u8;
                                            }
                                        };
                                    }
                                    V18::Failed(e) => {
                                        *ptr6
                                            .add(::core::mem::size_of::<*const u8>())
                                            .cast::<u8>() = (3i32) as u8;
                                        let super::super::super::super::tether::tool::types::Fault {
                                            code: code15,
                                            message: message15,
                                            retry_after_ms: retry_after_ms15,
                                        } = e;
                                        let vec16 = (code15.into_bytes()).into_boxed_slice();
                                        let ptr16 = vec16.as_ptr().cast::<u8>();
                                        let len16 = vec16.len();
                                        ::core::mem::forget(vec16);
                                        *ptr6
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len16;
                                        *ptr6
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr16.cast_mut();
                                        let vec17 = (message15.into_bytes()).into_boxed_slice();
                                        let ptr17 = vec17.as_ptr().cast::<u8>();
                                        let len17 = vec17.len();
                                        ::core::mem::forget(vec17);
                                        *ptr6
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>() = len17;
                                        *ptr6
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>() = ptr17.cast_mut();
                                        match retry_after_ms15 {
                                            Some(e) => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (1i32) as u8;
                                                *ptr6
                                                    .add(4 + 6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<i32>() = _rt::as_i32(e);
                                            }
                                            None => {
                                                *ptr6
                                                    .add(6 * ::core::mem::size_of::<*const u8>())
                                                    .cast::<u8>() = (0i32) as u8;
                                            }
                                        };
                                    }
                                }
                            }
                        };
                        ptr6
                    }
                }
                #[doc(hidden)]
                #[allow(non_snake_case)]
                pub unsafe fn __post_return_invoke<T_: Guest>(arg0: *mut u8) {
                    unsafe {
                        let l0 = i32::from(*arg0.add(0).cast::<u8>());
                        match l0 {
                            0 => {
                                let l1 = *arg0
                                    .add(::core::mem::size_of::<*const u8>())
                                    .cast::<*mut u8>();
                                let l2 = *arg0
                                    .add(2 * ::core::mem::size_of::<*const u8>())
                                    .cast::<usize>();
                                _rt::cabi_dealloc(l1, l2, 1);
                            }
                            _ => {
                                let l3 = i32::from(
                                    *arg0.add(::core::mem::size_of::<*const u8>()).cast::<u8>(),
                                );
                                match l3 {
                                    0 => {
                                        let l4 = *arg0
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l5 = *arg0
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l4, l5, 1);
                                    }
                                    1 => {
                                        let l6 = *arg0
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l7 = *arg0
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l6, l7, 1);
                                        let l8 = *arg0
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l9 = *arg0
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l8, l9, 1);
                                    }
                                    2 => {
                                        let l10 = *arg0
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l11 = *arg0
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l10, l11, 1);
                                        let l12 = *arg0
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l13 = *arg0
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l12, l13, 1);
                                    }
                                    _ => {
                                        let l14 = *arg0
                                            .add(2 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l15 = *arg0
                                            .add(3 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l14, l15, 1);
                                        let l16 = *arg0
                                            .add(4 * ::core::mem::size_of::<*const u8>())
                                            .cast::<*mut u8>();
                                        let l17 = *arg0
                                            .add(5 * ::core::mem::size_of::<*const u8>())
                                            .cast::<usize>();
                                        _rt::cabi_dealloc(l16, l17, 1);
                                    }
                                }
                            }
                        }
                    }
                }
                pub trait Guest {
                    /// What this component offers. Called once, when the host loads the
                    /// component; every import of this package fails while it runs.
                    #[allow(async_fn_in_trait)]
                    fn describe() -> Manifest;
                    /// One sentence for the person who is asked to confirm this write, or none
                    /// where the arguments speak for themselves. Called for writes only, with
                    /// the rights of a read.
                    #[allow(async_fn_in_trait)]
                    fn preview(
                        invocation: Invocation,
                    ) -> ::core::result::Result<
                        ::core::option::Option<_rt::String>,
                        ToolError,
                    >;
                    /// Do the work. Called at most once per confirmation of a write; MAY be
                    /// called several times for a read.
                    #[allow(async_fn_in_trait)]
                    fn invoke(
                        invocation: Invocation,
                    ) -> ::core::result::Result<Json, ToolError>;
                }
                #[doc(hidden)]
                #[macro_export]
                macro_rules! __export_tether_tool_handler_0_1_0_cabi {
                    ($ty:ident with_types_in $($path_to_types:tt)*) => {
                        const _ : () = { #[unsafe (export_name =
                        "tether:tool/handler@0.1.0#describe")] unsafe extern "C" fn
                        export_describe() -> * mut u8 { unsafe { $($path_to_types)*::
                        _export_describe_cabi::<$ty > () } } #[unsafe (export_name =
                        "cabi_post_tether:tool/handler@0.1.0#describe")] unsafe extern
                        "C" fn _post_return_describe(arg0 : * mut u8,) { unsafe {
                        $($path_to_types)*:: __post_return_describe::<$ty > (arg0) } }
                        #[unsafe (export_name = "tether:tool/handler@0.1.0#preview")]
                        unsafe extern "C" fn export_preview(arg0 : * mut u8, arg1 :
                        usize, arg2 : * mut u8, arg3 : usize, arg4 : * mut u8, arg5 :
                        usize, arg6 : * mut u8, arg7 : usize, arg8 : * mut u8, arg9 :
                        usize, arg10 : i32, arg11 : i32,) -> * mut u8 { unsafe {
                        $($path_to_types)*:: _export_preview_cabi::<$ty > (arg0, arg1,
                        arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11) } }
                        #[unsafe (export_name =
                        "cabi_post_tether:tool/handler@0.1.0#preview")] unsafe extern "C"
                        fn _post_return_preview(arg0 : * mut u8,) { unsafe {
                        $($path_to_types)*:: __post_return_preview::<$ty > (arg0) } }
                        #[unsafe (export_name = "tether:tool/handler@0.1.0#invoke")]
                        unsafe extern "C" fn export_invoke(arg0 : * mut u8, arg1 : usize,
                        arg2 : * mut u8, arg3 : usize, arg4 : * mut u8, arg5 : usize,
                        arg6 : * mut u8, arg7 : usize, arg8 : * mut u8, arg9 : usize,
                        arg10 : i32, arg11 : i32,) -> * mut u8 { unsafe {
                        $($path_to_types)*:: _export_invoke_cabi::<$ty > (arg0, arg1,
                        arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11) } }
                        #[unsafe (export_name =
                        "cabi_post_tether:tool/handler@0.1.0#invoke")] unsafe extern "C"
                        fn _post_return_invoke(arg0 : * mut u8,) { unsafe {
                        $($path_to_types)*:: __post_return_invoke::<$ty > (arg0) } } };
                    };
                }
                #[doc(hidden)]
                pub use __export_tether_tool_handler_0_1_0_cabi;
                #[cfg_attr(target_pointer_width = "64", repr(align(8)))]
                #[cfg_attr(target_pointer_width = "32", repr(align(4)))]
                struct _RetArea(
                    [::core::mem::MaybeUninit<
                        u8,
                    >; 8 + 6 * ::core::mem::size_of::<*const u8>()],
                );
                static mut _RET_AREA: _RetArea = _RetArea(
                    [::core::mem::MaybeUninit::uninit(); 8
                        + 6 * ::core::mem::size_of::<*const u8>()],
                );
            }
        }
    }
}
mod _rt {
    #![allow(dead_code, unused_imports, clippy::all)]
    pub use alloc_crate::string::String;
    pub use alloc_crate::vec::Vec;
    use core::fmt;
    use core::marker;
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// A type which represents a component model resource, either imported or
    /// exported into this component.
    ///
    /// This is a low-level wrapper which handles the lifetime of the resource
    /// (namely this has a destructor). The `T` provided defines the component model
    /// intrinsics that this wrapper uses.
    ///
    /// One of the chief purposes of this type is to provide `Deref` implementations
    /// to access the underlying data when it is owned.
    ///
    /// This type is primarily used in generated code for exported and imported
    /// resources.
    #[repr(transparent)]
    pub struct Resource<T: WasmResource> {
        handle: AtomicU32,
        _marker: marker::PhantomData<T>,
    }
    /// A trait which all wasm resources implement, namely providing the ability to
    /// drop a resource.
    ///
    /// This generally is implemented by generated code, not user-facing code.
    #[allow(clippy::missing_safety_doc)]
    pub unsafe trait WasmResource {
        /// Invokes the `[resource-drop]...` intrinsic.
        unsafe fn drop(handle: u32);
    }
    impl<T: WasmResource> Resource<T> {
        #[doc(hidden)]
        pub unsafe fn from_handle(handle: u32) -> Self {
            debug_assert!(handle != 0 && handle != u32::MAX);
            Self {
                handle: AtomicU32::new(handle),
                _marker: marker::PhantomData,
            }
        }
        /// Takes ownership of the handle owned by `resource`.
        ///
        /// Note that this ideally would be `into_handle` taking `Resource<T>` by
        /// ownership. The code generator does not enable that in all situations,
        /// unfortunately, so this is provided instead.
        ///
        /// Also note that `take_handle` is in theory only ever called on values
        /// owned by a generated function. For example a generated function might
        /// take `Resource<T>` as an argument but then call `take_handle` on a
        /// reference to that argument. In that sense the dynamic nature of
        /// `take_handle` should only be exposed internally to generated code, not
        /// to user code.
        #[doc(hidden)]
        pub fn take_handle(resource: &Resource<T>) -> u32 {
            resource.handle.swap(u32::MAX, Relaxed)
        }
        #[doc(hidden)]
        pub fn handle(resource: &Resource<T>) -> u32 {
            resource.handle.load(Relaxed)
        }
    }
    impl<T: WasmResource> fmt::Debug for Resource<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.debug_struct("Resource").field("handle", &self.handle).finish()
        }
    }
    impl<T: WasmResource> Drop for Resource<T> {
        fn drop(&mut self) {
            unsafe {
                match self.handle.load(Relaxed) {
                    u32::MAX => {}
                    other => T::drop(other),
                }
            }
        }
    }
    pub unsafe fn string_lift(bytes: Vec<u8>) -> String {
        if cfg!(debug_assertions) {
            String::from_utf8(bytes).unwrap()
        } else {
            unsafe { String::from_utf8_unchecked(bytes) }
        }
    }
    pub unsafe fn invalid_enum_discriminant<T>() -> T {
        if cfg!(debug_assertions) {
            panic!("invalid enum discriminant")
        } else {
            unsafe { core::hint::unreachable_unchecked() }
        }
    }
    pub fn as_i64<T: AsI64>(t: T) -> i64 {
        t.as_i64()
    }
    pub trait AsI64 {
        fn as_i64(self) -> i64;
    }
    impl<'a, T: Copy + AsI64> AsI64 for &'a T {
        fn as_i64(self) -> i64 {
            (*self).as_i64()
        }
    }
    impl AsI64 for i64 {
        #[inline]
        fn as_i64(self) -> i64 {
            self as i64
        }
    }
    impl AsI64 for u64 {
        #[inline]
        fn as_i64(self) -> i64 {
            self as i64
        }
    }
    pub fn as_f64<T: AsF64>(t: T) -> f64 {
        t.as_f64()
    }
    pub trait AsF64 {
        fn as_f64(self) -> f64;
    }
    impl<'a, T: Copy + AsF64> AsF64 for &'a T {
        fn as_f64(self) -> f64 {
            (*self).as_f64()
        }
    }
    impl AsF64 for f64 {
        #[inline]
        fn as_f64(self) -> f64 {
            self as f64
        }
    }
    pub use alloc_crate::alloc;
    pub unsafe fn cabi_dealloc(ptr: *mut u8, size: usize, align: usize) {
        if size == 0 {
            return;
        }
        unsafe {
            let layout = alloc::Layout::from_size_align_unchecked(size, align);
            alloc::dealloc(ptr, layout);
        }
    }
    pub unsafe fn bool_lift(val: u8) -> bool {
        if cfg!(debug_assertions) {
            match val {
                0 => false,
                1 => true,
                _ => panic!("invalid bool discriminant"),
            }
        } else {
            val != 0
        }
    }
    #[cfg(target_arch = "wasm32")]
    pub fn run_ctors_once() {
        wit_bindgen::rt::run_ctors_once();
    }
    pub fn as_i32<T: AsI32>(t: T) -> i32 {
        t.as_i32()
    }
    pub trait AsI32 {
        fn as_i32(self) -> i32;
    }
    impl<'a, T: Copy + AsI32> AsI32 for &'a T {
        fn as_i32(self) -> i32 {
            (*self).as_i32()
        }
    }
    impl AsI32 for i32 {
        #[inline]
        fn as_i32(self) -> i32 {
            self as i32
        }
    }
    impl AsI32 for u32 {
        #[inline]
        fn as_i32(self) -> i32 {
            self as i32
        }
    }
    impl AsI32 for i16 {
        #[inline]
        fn as_i32(self) -> i32 {
            self as i32
        }
    }
    impl AsI32 for u16 {
        #[inline]
        fn as_i32(self) -> i32 {
            self as i32
        }
    }
    impl AsI32 for i8 {
        #[inline]
        fn as_i32(self) -> i32 {
            self as i32
        }
    }
    impl AsI32 for u8 {
        #[inline]
        fn as_i32(self) -> i32 {
            self as i32
        }
    }
    impl AsI32 for char {
        #[inline]
        fn as_i32(self) -> i32 {
            self as i32
        }
    }
    impl AsI32 for usize {
        #[inline]
        fn as_i32(self) -> i32 {
            self as i32
        }
    }
    extern crate alloc as alloc_crate;
}
/// Generates `#[unsafe(no_mangle)]` functions to export the specified type as
/// the root implementation of all generated traits.
///
/// For more information see the documentation of `wit_bindgen::generate!`.
///
/// ```rust
/// # macro_rules! export_handler{ ($($t:tt)*) => (); }
/// # trait Guest {}
/// struct MyType;
///
/// impl Guest for MyType {
///     // ...
/// }
///
/// export_handler!(MyType);
/// ```
#[allow(unused_macros)]
#[doc(hidden)]
#[macro_export]
macro_rules! __export_tool_impl {
    ($ty:ident) => {
        tether_sdk::bindings::export_handler!($ty with_types_in tether_sdk::bindings);
    };
    ($ty:ident with_types_in $($path_to_types_root:tt)*) => {
        $($path_to_types_root)*::
        exports::tether::tool::handler::__export_tether_tool_handler_0_1_0_cabi!($ty
        with_types_in $($path_to_types_root)*:: exports::tether::tool::handler); const _
        : () = { #[cfg(target_arch = "wasm32")] #[unsafe (link_section =
        "component-type:wit-bindgen:0.61.1:tether:tool@0.1.0:tool:imports and exports")]
        #[doc(hidden)] #[allow(clippy::octal_escapes)] pub static
        __WIT_BINDGEN_COMPONENT_TYPE : [u8; 1867] = *
        b"\
\0asm\x0d\0\x01\0\0\x19\x16wit-component-encoding\x04\0\x07\xd0\x0d\x01A\x02\x01\
A\x0c\x01B\x15\x01s\x04\0\x04json\x03\0\0\x01m\x02\x04read\x05write\x04\0\x06eff\
ect\x03\0\x02\x01ks\x01k\x01\x01r\x06\x04names\x05title\x04\x0bdescriptions\x06e\
ffect\x03\x0cinput-schema\x01\x0doutput-schema\x05\x04\0\x04tool\x03\0\x06\x01r\x03\
\x08databases\x02ids\x03sqls\x04\0\x09migration\x03\0\x08\x01p\x07\x01p\x09\x01r\
\x02\x05tools\x0a\x0amigrations\x0b\x04\0\x08manifest\x03\0\x0c\x01r\x07\x0arequ\
est-ids\x04tools\x06tenants\x04users\x09arguments\x01\x07attempty\x0atimeout-msy\
\x04\0\x0ainvocation\x03\0\x0e\x01ky\x01r\x03\x04codes\x07messages\x0eretry-afte\
r-ms\x10\x04\0\x05fault\x03\0\x11\x01q\x04\x11invalid-arguments\x01s\0\x07refuse\
d\x01\x12\0\x09transient\x01\x12\0\x06failed\x01\x12\0\x04\0\x0atool-error\x03\0\
\x13\x03\0\x17tether:tool/types@0.1.0\x05\0\x02\x03\0\0\x04json\x01B*\x02\x03\x02\
\x01\x01\x04\0\x04json\x03\0\0\x01p}\x01q\x06\x04null\0\0\x07boolean\x01\x7f\0\x07\
integer\x01x\0\x04real\x01u\0\x04text\x01s\0\x04blob\x01\x02\0\x04\0\x05value\x03\
\0\x03\x01ps\x01p\x04\x01p\x06\x01r\x02\x07columns\x05\x04rows\x07\x04\0\x07row-\
set\x03\0\x08\x01q\x09\x0bnot-granted\0\0\x09read-only\0\0\x0aconstraint\x01s\0\x04\
busy\0\0\x09too-large\0\0\x0einvalid-output\x01s\0\x0cstorage-full\0\0\x09forbid\
den\x01s\0\x05other\x01s\0\x04\0\x05error\x03\0\x0a\x04\0\x0aconnection\x03\x01\x04\
\0\x0btransaction\x03\x01\x01i\x0d\x01q\x02\x05fresh\x01\x0e\0\x08recorded\x01\x01\
\0\x04\0\x05begun\x03\0\x0f\x01i\x0c\x01j\x01\x11\x01\x0b\x01@\x01\x04names\0\x12\
\x04\0\x17[static]connection.open\x01\x13\x01h\x0c\x01j\x01\x09\x01\x0b\x01@\x03\
\x04self\x14\x03sqls\x0aparameters\x06\0\x15\x04\0\x18[method]connection.query\x01\
\x16\x01ks\x01k\x01\x01j\x01\x18\x01\x0b\x01@\x02\x04self\x14\x04step\x17\0\x19\x04\
\0\x19[method]connection.lookup\x01\x1a\x01j\x01\x10\x01\x0b\x01@\x02\x04self\x14\
\x04step\x17\0\x1b\x04\0\x18[method]connection.begin\x01\x1c\x01h\x0d\x01@\x03\x04\
self\x1d\x03sqls\x0aparameters\x06\0\x15\x04\0\x19[method]transaction.query\x01\x1e\
\x01j\x01w\x01\x0b\x01@\x03\x04self\x1d\x03sqls\x0aparameters\x06\0\x1f\x04\0\x1b\
[method]transaction.execute\x01\x20\x01j\0\x01\x0b\x01@\x02\x0btransaction\x0e\x06\
output\x01\0!\x04\0\x1a[static]transaction.commit\x01\"\x03\0\x1atether:tool/dat\
abase@0.1.0\x05\x02\x01B\x0d\x01o\x02ss\x01p\0\x01p}\x01ks\x01r\x05\x06methods\x03\
urls\x07headers\x01\x04body\x02\x04step\x03\x04\0\x07request\x03\0\x04\x01r\x03\x06\
status{\x07headers\x01\x04body\x02\x04\0\x08response\x03\0\x06\x01q\x05\x06denie\
d\x01s\0\x08not-sent\x01s\0\x0foutcome-unknown\x01s\0\x09too-large\x01w\0\x10tra\
nsaction-open\0\0\x04\0\x05error\x03\0\x08\x01j\x01\x07\x01\x09\x01@\x01\x07requ\
est\x05\0\x0a\x04\0\x04send\x01\x0b\x03\0\x1btether:tool/transport@0.1.0\x05\x03\
\x02\x03\0\0\x08manifest\x02\x03\0\0\x0ainvocation\x02\x03\0\0\x0atool-error\x01\
B\x11\x02\x03\x02\x01\x01\x04\0\x04json\x03\0\0\x02\x03\x02\x01\x04\x04\0\x08man\
ifest\x03\0\x02\x02\x03\x02\x01\x05\x04\0\x0ainvocation\x03\0\x04\x02\x03\x02\x01\
\x06\x04\0\x0atool-error\x03\0\x06\x01@\0\0\x03\x04\0\x08describe\x01\x08\x01ks\x01\
j\x01\x09\x01\x07\x01@\x01\x0ainvocation\x05\0\x0a\x04\0\x07preview\x01\x0b\x01j\
\x01\x01\x01\x07\x01@\x01\x0ainvocation\x05\0\x0c\x04\0\x06invoke\x01\x0d\x04\0\x19\
tether:tool/handler@0.1.0\x05\x07\x04\0\x16tether:tool/tool@0.1.0\x04\0\x0b\x0a\x01\
\0\x04tool\x03\0\0\0G\x09producers\x01\x0cprocessed-by\x02\x0dwit-component\x070\
.258.3\x10wit-bindgen-rust\x060.61.1";
        };
    };
}
#[doc(inline)]
pub use __export_tool_impl as export_handler;
#[cfg(target_arch = "wasm32")]
#[unsafe(
    link_section = "component-type:wit-bindgen:0.61.1:tether:tool@0.1.0:tool-with-all-of-its-exports-removed:encoded world"
)]
#[doc(hidden)]
#[allow(clippy::octal_escapes)]
pub static __WIT_BINDGEN_COMPONENT_TYPE: [u8; 1689] = *b"\
\0asm\x0d\0\x01\0\0\x19\x16wit-component-encoding\x04\0\x07\xfe\x0b\x01A\x02\x01\
A\x07\x01B\x15\x01s\x04\0\x04json\x03\0\0\x01m\x02\x04read\x05write\x04\0\x06eff\
ect\x03\0\x02\x01ks\x01k\x01\x01r\x06\x04names\x05title\x04\x0bdescriptions\x06e\
ffect\x03\x0cinput-schema\x01\x0doutput-schema\x05\x04\0\x04tool\x03\0\x06\x01r\x03\
\x08databases\x02ids\x03sqls\x04\0\x09migration\x03\0\x08\x01p\x07\x01p\x09\x01r\
\x02\x05tools\x0a\x0amigrations\x0b\x04\0\x08manifest\x03\0\x0c\x01r\x07\x0arequ\
est-ids\x04tools\x06tenants\x04users\x09arguments\x01\x07attempty\x0atimeout-msy\
\x04\0\x0ainvocation\x03\0\x0e\x01ky\x01r\x03\x04codes\x07messages\x0eretry-afte\
r-ms\x10\x04\0\x05fault\x03\0\x11\x01q\x04\x11invalid-arguments\x01s\0\x07refuse\
d\x01\x12\0\x09transient\x01\x12\0\x06failed\x01\x12\0\x04\0\x0atool-error\x03\0\
\x13\x03\0\x17tether:tool/types@0.1.0\x05\0\x02\x03\0\0\x04json\x01B*\x02\x03\x02\
\x01\x01\x04\0\x04json\x03\0\0\x01p}\x01q\x06\x04null\0\0\x07boolean\x01\x7f\0\x07\
integer\x01x\0\x04real\x01u\0\x04text\x01s\0\x04blob\x01\x02\0\x04\0\x05value\x03\
\0\x03\x01ps\x01p\x04\x01p\x06\x01r\x02\x07columns\x05\x04rows\x07\x04\0\x07row-\
set\x03\0\x08\x01q\x09\x0bnot-granted\0\0\x09read-only\0\0\x0aconstraint\x01s\0\x04\
busy\0\0\x09too-large\0\0\x0einvalid-output\x01s\0\x0cstorage-full\0\0\x09forbid\
den\x01s\0\x05other\x01s\0\x04\0\x05error\x03\0\x0a\x04\0\x0aconnection\x03\x01\x04\
\0\x0btransaction\x03\x01\x01i\x0d\x01q\x02\x05fresh\x01\x0e\0\x08recorded\x01\x01\
\0\x04\0\x05begun\x03\0\x0f\x01i\x0c\x01j\x01\x11\x01\x0b\x01@\x01\x04names\0\x12\
\x04\0\x17[static]connection.open\x01\x13\x01h\x0c\x01j\x01\x09\x01\x0b\x01@\x03\
\x04self\x14\x03sqls\x0aparameters\x06\0\x15\x04\0\x18[method]connection.query\x01\
\x16\x01ks\x01k\x01\x01j\x01\x18\x01\x0b\x01@\x02\x04self\x14\x04step\x17\0\x19\x04\
\0\x19[method]connection.lookup\x01\x1a\x01j\x01\x10\x01\x0b\x01@\x02\x04self\x14\
\x04step\x17\0\x1b\x04\0\x18[method]connection.begin\x01\x1c\x01h\x0d\x01@\x03\x04\
self\x1d\x03sqls\x0aparameters\x06\0\x15\x04\0\x19[method]transaction.query\x01\x1e\
\x01j\x01w\x01\x0b\x01@\x03\x04self\x1d\x03sqls\x0aparameters\x06\0\x1f\x04\0\x1b\
[method]transaction.execute\x01\x20\x01j\0\x01\x0b\x01@\x02\x0btransaction\x0e\x06\
output\x01\0!\x04\0\x1a[static]transaction.commit\x01\"\x03\0\x1atether:tool/dat\
abase@0.1.0\x05\x02\x01B\x0d\x01o\x02ss\x01p\0\x01p}\x01ks\x01r\x05\x06methods\x03\
urls\x07headers\x01\x04body\x02\x04step\x03\x04\0\x07request\x03\0\x04\x01r\x03\x06\
status{\x07headers\x01\x04body\x02\x04\0\x08response\x03\0\x06\x01q\x05\x06denie\
d\x01s\0\x08not-sent\x01s\0\x0foutcome-unknown\x01s\0\x09too-large\x01w\0\x10tra\
nsaction-open\0\0\x04\0\x05error\x03\0\x08\x01j\x01\x07\x01\x09\x01@\x01\x07requ\
est\x05\0\x0a\x04\0\x04send\x01\x0b\x03\0\x1btether:tool/transport@0.1.0\x05\x03\
\x04\06tether:tool/tool-with-all-of-its-exports-removed@0.1.0\x04\0\x0b*\x01\0$t\
ool-with-all-of-its-exports-removed\x03\0\0\0G\x09producers\x01\x0cprocessed-by\x02\
\x0dwit-component\x070.258.3\x10wit-bindgen-rust\x060.61.1";
#[inline(never)]
#[doc(hidden)]
pub fn __link_custom_section_describing_imports() {
    wit_bindgen::rt::maybe_link_cabi_realloc();
}
