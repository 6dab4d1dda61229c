//! Functions, containers, fields, members' values and named tests by Zig's own parser: paths on standard input, one
//! JSON line a file on standard output. Of what stands in a function, containers with a name count.
const std = @import("std");
const Ast = std.zig.Ast;

const Item = struct { first: u32, last: u32, name: []const u8, scope: bool };

fn before(_: void, a: Item, b: Item) bool {
    return if (a.first == b.first) a.last > b.last else a.first < b.first;
}

fn isContainer(tree: *const Ast, node: Ast.Node.OptionalIndex) bool {
    var buffer: [2]Ast.Node.Index = undefined;
    const at = node.unwrap() orelse return false;
    return tree.fullContainerDecl(&buffer, at) != null;
}

/// Whether a node stands among the parameters of a function: what its type holds is nothing to ask for.
fn isParameter(tree: *const Ast, node: Ast.Node.Index, ranges: []const [2]u32) bool {
    const first = tree.firstToken(node);
    for (ranges) |range| if (first > range[0] and first < range[1]) return true;
    return false;
}

/// The item that a declaration makes; `member` where it stands in a container.
fn item(tree: *const Ast, node: Ast.Node.Index, member: bool, in_struct: bool) ?Item {
    var buffer: [1]Ast.Node.Index = undefined;
    var last = tree.lastToken(node);
    if (tree.fullFnProto(&buffer, node)) |proto| {
        const name = proto.name_token orelse return null;
        if (!member) return null;
        if (tree.nodeTag(node) != .fn_decl and tree.tokenTag(last + 1) == .semicolon) last += 1;
        return .{ .first = proto.firstToken(), .last = last, .name = tree.tokenSlice(name), .scope = true };
    }
    if (tree.fullVarDecl(node)) |decl| {
        const container = isContainer(tree, decl.ast.init_node);
        if (!member and !container) return null;
        if (tree.tokenTag(last + 1) == .semicolon) last += 1;
        const name = tree.tokenSlice(decl.ast.mut_token + 1);
        return .{ .first = decl.firstToken(), .last = last, .name = name, .scope = member or container };
    }
    if (!member) return null;
    if (tree.fullContainerField(node)) |field| {
        if (field.ast.tuple_like and in_struct) return null;
        return .{ .first = field.firstToken(), .last = last, .name = tree.tokenSlice(field.ast.main_token), .scope = true };
    }
    if (tree.nodeTag(node) != .test_decl) return null;
    const name = tree.nodeData(node).opt_token_and_node[0].unwrap() orelse return null;
    return .{ .first = tree.firstToken(node), .last = last, .name = std.mem.trim(u8, tree.tokenSlice(name), "\""), .scope = true };
}

fn members(gpa: std.mem.Allocator, tree: *const Ast, items: *std.ArrayList(Item), seen: []bool, nodes: []const Ast.Node.Index, in_struct: bool) !void {
    for (nodes) |node| {
        seen[@intFromEnum(node)] = true;
        if (item(tree, node, true, in_struct)) |one| try items.append(gpa, one);
    }
}

fn read(gpa: std.mem.Allocator, source: [:0]const u8, path: []const u8, out: *std.Io.Writer) !void {
    const tree = try Ast.parse(gpa, source, .{ .mode = .zig });
    try out.writeAll("{\"path\":");
    try std.json.Stringify.value(path, .{}, out);
    if (tree.errors.len > 0) return out.writeAll(",\"error\":\"syntax\"}\n");
    var items: std.ArrayList(Item) = .empty;
    const seen = try gpa.alloc(bool, tree.nodes.len);
    @memset(seen, false);
    try members(gpa, &tree, &items, seen, tree.rootDecls(), true);
    var ranges: std.ArrayList([2]u32) = .empty;
    for (0..tree.nodes.len) |i| {
        var buffer: [1]Ast.Node.Index = undefined;
        const proto = tree.fullFnProto(&buffer, @enumFromInt(i)) orelse continue;
        const given_back = proto.ast.return_type.unwrap() orelse continue;
        try ranges.append(gpa, .{ proto.lparen, tree.firstToken(given_back) });
    }
    for (0..tree.nodes.len) |i| {
        var buffer: [2]Ast.Node.Index = undefined;
        const node: Ast.Node.Index = @enumFromInt(i);
        if (i == 0) continue;
        const container = tree.fullContainerDecl(&buffer, node) orelse continue;
        if (isParameter(&tree, node, ranges.items)) continue;
        const in_struct = tree.tokenTag(container.ast.main_token) == .keyword_struct;
        try members(gpa, &tree, &items, seen, container.ast.members, in_struct);
    }
    for (0..tree.nodes.len) |i|
        if (!seen[i])
            if (item(&tree, @enumFromInt(i), false, false)) |one| try items.append(gpa, one);
    std.mem.sort(Item, items.items, {}, before);
    var open: std.ArrayList(Item) = .empty;
    try out.writeAll(",\"rows\":[");
    for (items.items, 0..) |one, i| {
        while (open.items.len > 0 and open.items[open.items.len - 1].last < one.first) _ = open.pop();
        var name: []const u8 = one.name;
        var k = open.items.len;
        while (k > 0) {
            k -= 1;
            name = try std.mem.concat(gpa, u8, &.{ open.items[k].name, ".", name });
        }
        const start = std.mem.count(u8, source[0..tree.tokenStart(one.first)], "\n") + 1;
        const stop = std.mem.count(u8, source[0..tree.tokenStart(one.last)], "\n") + 1;
        if (i > 0) try out.writeAll(",");
        try out.writeAll("{\"symbol\":");
        try std.json.Stringify.value(name, .{}, out);
        try out.print(",\"start\":{d},\"end\":{d}}}", .{ start, stop });
        if (one.scope) try open.append(gpa, one);
    }
    try out.writeAll("]}\n");
}

pub fn main(init: std.process.Init) !void {
    const gpa = init.arena.allocator();
    var in_buffer: [65536]u8 = undefined;
    var out_buffer: [65536]u8 = undefined;
    var in = std.Io.File.stdin().readerStreaming(init.io, &in_buffer);
    var writer = std.Io.File.stdout().writerStreaming(init.io, &out_buffer);
    const out = &writer.interface;
    while (true) {
        const given = in.interface.takeDelimiterInclusive('\n') catch break;
        const path = try gpa.dupe(u8, std.mem.trimEnd(u8, given, "\n"));
        const source = try std.Io.Dir.cwd().readFileAllocOptions(init.io, path, gpa, .unlimited, .of(u8), 0);
        try read(gpa, source, path, out);
    }
    try out.flush();
}
