//! Module doc
const std = @import("std");
const Allocator = std.mem.Allocator;
pub const max = 3;
var counter: u32 = 0;
/// Doc.
pub fn add(a: i32, b: i32) i32 { return a + b; }
fn Gen(comptime T: type) type { return struct { x: T, pub fn get(self: @This()) T { return self.x; } }; }
pub const Point = struct {
    x: f32,
    y: f32 = 0,
    const Self = @This();
    /// init
    pub fn init() Self { const local = 1; const L = struct { fn inner() void {} }; return .{}; }
    pub const Inner = enum { a, b };
};
const U = union(enum) { a: u8, b, fn f() void {} };
const E = error{ OutOfMemory, Bad };
const O = opaque {};
const P = packed struct { a: u1 };
const X = extern union { a: u8 };
const En = enum(u8) { one = 1, two, _, };
test "adds" { try std.testing.expect(true); }
test add { }
test { }
comptime { _ = x; }
pub extern "c" fn printf(fmt: [*:0]const u8, ...) c_int;
export fn foo() callconv(.C) void {}
inline fn bar() void {}
pub usingnamespace @import("x.zig");
const f2 = fn (a: u8) void;
threadlocal var tl: u8 = 1;
const S2 = if (a) struct { fn q() void {} } else struct {};
const @"weird name" = 1;
fn @"odd"() void {}
field: u8,

/// Splits a pair.
pub fn split(pair: struct { u8, u8 }) u8 {
    const first, var second = pair;
    second += first;
    return sw: switch (second) {
        0 => break :sw 1,
        else => |n| n,
    };
}
