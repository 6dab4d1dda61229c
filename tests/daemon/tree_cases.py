"""What people, editors and git do to a tree, each with what must be in the index afterwards.

A script runs in bash, in the case's own folder, with `py FILE NAME` to write a function and `commit` to
commit all; `$OUTSIDE` is a folder outside the tree. What is expected is written as `path:symbol`, `path` for
a file without symbols and `path!reason` for one that was skipped; `.gitignore` itself is left unsaid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PRELUDE = r"""
py() { mkdir -p "$(dirname "$1")"; printf 'def %s():\n    return "%s"\n' "$2" "$2" > "$1"; }
commit() { git add -A . && git commit -qm "${1:-work}"; }
"""


@dataclass(frozen=True)
class Step:
    """A script, and all that the index then holds of the folder."""

    do: str
    then: frozenset[str]


@dataclass(frozen=True)
class Case:
    """`before` runs before the daemon starts. `never` are paths that no revision may have had."""

    before: str
    steps: tuple[Step, ...]
    never: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """For the daemon; `{dir}` stands for the folder around the tree."""


def step(do: str, *then: str) -> Step:
    return Step(do, frozenset(then))


TOGETHER: dict[str, Case] = {
    "saves-by-rename": Case(
        "py app.py old_name",
        (
            step("py .app.py.tmp123 new_name; mv .app.py.tmp123 app.py", "app.py:new_name"),
            step("py build.part fresh; mv build.part added.py", "app.py:new_name", "added.py:fresh"),
            step("py gone.py bye; mv gone.py gone.txt.bak", "app.py:new_name", "added.py:fresh"),
        ),
    ),
    "saves-of-every-kind": Case(
        "py a.py v1",
        (
            step("py a.py.new v2; mv a.py.new a.py", "a.py:v2"),
            step("mv a.py a.py~; py a.py v3; rm a.py~", "a.py:v3"),
            step("sed -i s/v3/v4/ a.py", "a.py:v4"),
            step("printf 'def v5():\\n    return 1\\n' > a.py", "a.py:v5"),
            step("ln a.py b; sed -i s/v5/v6/ a.py; rm b", "a.py:v6"),
            step("py c.tmp v7; cat c.tmp > a.py; rm c.tmp", "a.py:v7"),
        ),
    ),
    "folders-in-a-burst": Case(
        "py root.py root",
        (
            step(
                "mkdir -p a/b/c/d/e && py a/b/c/d/e/deep.py deep\n"
                'for i in $(seq 1 60); do mkdir -p "burst/x$i/y" && py "burst/x$i/y/m.py" "m$i"; done\n'
                "cp -r burst copy; mkdir tmpdir; py tmpdir/q.py moved; mv tmpdir renamed",
                *("root.py:root", "a/b/c/d/e/deep.py:deep", "renamed/q.py:moved"),
                *(f"{top}/x{i}/y/m.py:m{i}" for i in range(1, 61) for top in ("burst", "copy")),
            ),
            step(
                "py a/b/c/d/e/later.py later; py burst/x7/y/late.py late; rm -r copy",
                *("root.py:root", "a/b/c/d/e/deep.py:deep", "renamed/q.py:moved"),
                *(f"burst/x{i}/y/m.py:m{i}" for i in range(1, 61)),
                *("a/b/c/d/e/later.py:later", "burst/x7/y/late.py:late"),
            ),
        ),
    ),
    "a-folder-moved-in-about-and-out": Case(
        'py keep.py keep; mkdir -p "$OUTSIDE/pack/empty"; cd "$OUTSIDE/pack"; py a.py a; py s/t/b.py b\n'
        "ln -s nowhere dangling.py",
        (
            step('mv "$OUTSIDE/pack" pack', "keep.py:keep", "pack/a.py:a", "pack/s/t/b.py:b"),
            step("mv pack pkg", "keep.py:keep", "pkg/a.py:a", "pkg/s/t/b.py:b"),
            step("py pkg/s/t/b.py b2", "keep.py:keep", "pkg/a.py:a", "pkg/s/t/b.py:b2"),
            step("mv pkg/s s; py s/t/c.py c", "keep.py:keep", "pkg/a.py:a", "s/t/b.py:b2", "s/t/c.py:c"),
            step('mv s "$OUTSIDE/s"; py "$OUTSIDE/s/t/d.py" d', "keep.py:keep", "pkg/a.py:a"),
        ),
    ),
    "symlinks-and-their-loops": Case(
        "py real.py real; mkdir -p a/b dos; ln -s ../.. a/b/up; ln -s . dot; ln -s a/b/up/a a2\n"
        "ln -s / dos/z:; ln -s self self; ln -s loop2 loop1; ln -s loop1 loop2; ln -s /dev/stdout out.py\n"
        "ln -s /dev/zero zero.py; ln -s /proc/self/environ env.py; mkfifo pipe.py",
        (step("py a/b/late.py late", "real.py:real", "a/b/late.py:late"),),
    ),
    "symlinks-to-files-and-out": Case(
        'py src/core.py core; ln -s core.py src/alias.py; ln -s src lib; py "$OUTSIDE/ext/secret.py" secret\n'
        'ln -s "$OUTSIDE/ext" vendored; ln -s "$OUTSIDE/ext/secret.py" leak.py; ln -s /not/here gone',
        (
            step("py src/core.py core2", "src/core.py:core2"),
            step(
                'py "$OUTSIDE/ext/secret.py" other; py lib/new.py new', "src/core.py:core2", "src/new.py:new"
            ),
            step("rm lib; mv src lib", "lib/core.py:core2", "lib/new.py:new"),
            step("ln -s lib src; rm lib/core.py; ln -s new.py lib/core.py", "lib/new.py:new"),
        ),
        never=("leak.py", "vendored/secret.py", "src/alias.py"),
    ),
    "names-that-differ-in-case": Case(
        "py Widget.py widget; py Sub/m.py m",
        (
            step("mv Widget.py widget.py", "widget.py:widget", "Sub/m.py:m"),
            step("mv Sub tmp_s; mv tmp_s sub", "widget.py:widget", "sub/m.py:m"),
            step("py widget.py w2; py Widget.py w3", "widget.py:w2", "Widget.py:w3", "sub/m.py:m"),
        ),
    ),
    "litter-of-editors": Case(
        "py a.py a",
        (
            step(
                "ln -s user@host.1:2 '.#a.py'; printf x > '#a.py#'; head -c 4096 /dev/urandom > .a.py.swp\n"
                "py a.py~ swap; touch 4913; rm 4913; py a.py___jb_tmp___ jb; mv a.py___jb_tmp___ a.py\n"
                "printf lock > '.~lock.notes.md#'",
                "a.py:jb",
            ),
            step("rm '.#a.py' '#a.py#' .a.py.swp a.py~ '.~lock.notes.md#'; py a.py end", "a.py:end"),
        ),
        never=(".#a.py", "#a.py#", ".a.py.swp", "a.py~", ".~lock.notes.md#", "a.py___jb_tmp___"),
    ),
    "nested-rules": Case(
        "mkdir -p cap/deps core/deps web/.output web/src; echo dist/ > .gitignore\n"
        "printf '/deps/\\n*.tmp.py\\n' > cap/.gitignore; echo .output > web/.gitignore\n"
        "py cap/deps/d.py no; py core/deps/d.py dep; py web/.output/b.py no; py web/src/dist/e.py no\n"
        "py web/src/s.py s; py cap/x.tmp.py no; py core/y.tmp.py y",
        (
            step(":", "core/deps/d.py:dep", "core/y.tmp.py:y", "web/src/s.py:s"),
            step(
                "echo '!/deps/' >> cap/.gitignore; rm web/.gitignore; py web/.output/c.py c",
                *("core/deps/d.py:dep", "core/y.tmp.py:y", "web/src/s.py:s"),
                *("cap/deps/d.py:no", "web/.output/b.py:no", "web/.output/c.py:c"),
            ),
        ),
        never=("web/src/dist/e.py", "cap/x.tmp.py"),
    ),
    "anchored-rules": Case(
        "printf '/coverage\\nbuild/*.py\\n/docs/**/x.py\\n' > .gitignore\n"
        "printf '\\\\#odd.py\\ntrail\\\\ \\n[ab].py\\n' >> .gitignore\n"
        "py coverage/c.py no; py src/routes/coverage/r.py r; py build/b.py no; py src/build/b2.py b2\n"
        "py docs/p/q/x.py no; py '#odd.py' no; py 'trail ' no; py a.py no; py c.py cc",
        (step(":", "src/routes/coverage/r.py:r", "src/build/b2.py:b2", "c.py:cc"),),
    ),
    "rules-edited": Case(
        "py src/a.py a; py gen/g.py g; py tmp/t.py t; echo /gen/ > .gitignore; git add -A .",
        (
            step("echo /tmp2/ > .gitignore; py tmp2/t.py t", "src/a.py:a", "gen/g.py:g", "tmp/t.py:t"),
            step(
                "printf '*\\n!*.keep.py\\n' > gen/.gitignore; py gen/z.keep.py z",
                "src/a.py:a",
                "tmp/t.py:t",
                "gen/z.keep.py:z",
            ),
            step("git add -f gen/g.py", "src/a.py:a", "tmp/t.py:t", "gen/z.keep.py:z", "gen/g.py:g"),
            step(
                "echo '*.py' > src/.gitignore; py src/b.py b",
                "src/a.py:a",
                "tmp/t.py:t",
                "gen/z.keep.py:z",
                "gen/g.py:g",
            ),
            step("git rm -q --cached src/a.py", "tmp/t.py:t", "gen/z.keep.py:z", "gen/g.py:g"),
            step(
                "rm .gitignore src/.gitignore",
                *("src/a.py:a", "src/b.py:b", "tmp/t.py:t", "tmp2/t.py:t", "gen/z.keep.py:z", "gen/g.py:g"),
            ),
            step(
                "echo gen/ > .ckvignore",
                *(".ckvignore", "src/a.py:a", "src/b.py:b", "tmp/t.py:t", "tmp2/t.py:t"),
            ),
        ),
    ),
    "names-that-need-quoting": Case(
        "mkdir -p src/中文目录; py src/中文目录/Bar.py bar; py 'BOSS血条.py' boss; py emoji🙂/x.py emo\n"
        "py 'a b/c b/d.py' spaced; py $'line\\nbreak.py' broken; py $'bad\\xff.py' bad\n"
        "py 'worse\\xfe.py' literal\n"
        "printf 'def dash(): pass\\n' > ./-dash.py",
        (
            step(
                "py BOSS血条.py boss2; mv 'a b' 'ä b'; mv $'line\\nbreak.py' $'other\\n\\nbreak.py'\n"
                "mv $'bad\\xff.py' $'worse\\xfe.py'",
                *("src/中文目录/Bar.py:bar", "BOSS血条.py:boss2", "emoji🙂/x.py:emo", "ä b/c b/d.py:spaced"),
                *("other\n\nbreak.py:broken", "worse\\xfe.py:bad", "worse\\x5cxfe.py:literal"),
                "-dash.py:dash",
            ),
        ),
    ),
    "a-dot-git-that-is-none": Case(
        "py outer.py outer; for k in bad loop empty; do py $k/in.py in_$k; done\n"
        "echo 'gitdir: /no/such/dir' > bad/.git; ln -s .git loop/.git; : > empty/.git",
        (
            step(
                "py bad/more.py more",
                "outer.py:outer",
                "bad/in.py:in_bad",
                "bad/more.py:more",
                "loop/in.py:in_loop",
                "empty/in.py:in_empty",
            ),
        ),
    ),
    "unreadable": Case(
        "py good.py good; py locked.py locked; py dir/in.py inner; py w/o.py o; git add -A .\n"
        "chmod 000 locked.py dir; chmod 311 w",
        (
            step(
                "py z.py z",
                "good.py:good",
                "locked.py!unreadable",
                "dir/in.py!unreadable",
                "w/o.py:o",
                "z.py:z",
            ),
            step(
                "chmod 644 locked.py",
                "good.py:good",
                "locked.py:locked",
                "dir/in.py!unreadable",
                "w/o.py:o",
                "z.py:z",
            ),
            step(
                "chmod 755 dir w", "good.py:good", "locked.py:locked", "dir/in.py:inner", "w/o.py:o", "z.py:z"
            ),
            step(
                "py dir/new.py new",
                "good.py:good",
                "locked.py:locked",
                "dir/in.py:inner",
                "dir/new.py:new",
                "w/o.py:o",
                "z.py:z",
            ),
            step(
                "chmod 000 dir good.py",
                "good.py!unreadable",
                "locked.py:locked",
                "dir/in.py!unreadable",
                "w/o.py:o",
                "z.py:z",
            ),
            step(
                "chmod 755 dir good.py",
                "good.py:good",
                "locked.py:locked",
                "dir/in.py:inner",
                "dir/new.py:new",
                "w/o.py:o",
                "z.py:z",
            ),
        ),
    ),
    "a-folder-and-a-file-change-places": Case(
        "py thing.py/inner.py inner; py other.py other",
        (
            step("rm -r thing.py; py thing.py file", "thing.py:file", "other.py:other"),
            step("rm thing.py other.py; py other.py/x.py x; mkdir thing.py", "other.py/x.py:x"),
            step("rm -r other.py; mkfifo other.py; ln -s nowhere thing.py/y.py"),
            step("rm other.py; py other.py back", "other.py:back"),
        ),
    ),
}


REWRITTEN = {f"{i}{j}" for i in (3, 4) for j in range(100)}

ALONE: dict[str, Case] = {
    "checkouts-in-a-row": Case(
        "for i in $(seq 1 600); do py m$i.py m$i; done; commit one\n"
        "git checkout -qb two; git rm -q m[12]*.py\n"
        "for i in 3 4; do for j in $(seq 0 99); do py m$i$j.py n${i}_$j; done; done; py only.py only\n"
        "commit two; git checkout -q main",
        (
            step(
                "for b in two main two main two; do git checkout -q $b; done\n"
                "git checkout -q --detach main; git checkout -q two; git stash -q || true",
                "only.py:only",
                *(f"m{i}{j}.py:n{i}_{j}" for i in (3, 4) for j in range(100)),
                *(
                    f"m{i}.py:m{i}"
                    for i in range(3, 601)
                    if str(i)[0] not in "12" and str(i) not in REWRITTEN
                ),
            ),
        ),
    ),
    "a-switch-with-the-same-contents": Case(
        "py a.py one; py b.py two; py thing thing_file; mv thing thing.py; commit; git checkout -qb swap\n"
        "mv a.py t; mv b.py a.py; mv t b.py; git rm -q thing.py; py thing.py/inner.py inner\n"
        "commit; git checkout -q main",
        (
            step("git checkout -q swap", "a.py:two", "b.py:one", "thing.py/inner.py:inner"),
            step("git checkout -q main", "a.py:one", "b.py:two", "thing.py:thing_file"),
            step(
                "git checkout -q swap; git checkout -q main; git checkout -q swap",
                "a.py:two",
                "b.py:one",
                "thing.py/inner.py:inner",
            ),
        ),
    ),
    "a-dirty-tree-stashed": Case(
        "py a.py a; py b.py b; commit; py a.py dirty; py new.py new; git add b.py",
        (
            step("git stash -q -u", "a.py:a", "b.py:b"),
            step("git stash pop -q", "a.py:dirty", "b.py:b", "new.py:new"),
        ),
    ),
    "rules-of-the-user-and-of-the-repository": Case(
        "printf '*.swp.py\\nprivate/\\n' > ../excludes\n"
        'git config --file ../config core.excludesFile "$PWD/../excludes"\n'
        "echo 'local_*.py' >> .git/info/exclude; py a.py a\n"
        "py b.swp.py b; py private/p.py p; py local_x.py lx",
        (
            step(":", "a.py:a"),
            step("echo > ../excludes", "a.py:a", "b.swp.py:b", "private/p.py:p"),
            step("echo '*.swp.py' > .git/info/exclude", "a.py:a", "private/p.py:p", "local_x.py:lx"),
            step(
                "echo 'local_*.py' > ../more; git config core.excludesFile \"$PWD/../more\"",
                "a.py:a",
                "private/p.py:p",
            ),
            step(
                "git config --unset core.excludesFile; py private/q.py q",
                "a.py:a",
                "private/p.py:p",
                "private/q.py:q",
                "local_x.py:lx",
            ),
        ),
        env={"GIT_CONFIG_GLOBAL": "{dir}/config"},
    ),
    "what-is-ignored-churns": Case(
        "py a.py a; printf 'logs/\\n*.gen.py\\n/out\\n' > .gitignore; commit\n"
        "mkdir -p logs out node_modules/x; py out/o.py o; py x.gen.py gen",
        (
            step(
                "for i in $(seq 1 100); do echo $i >> logs/app.py; py out/o.py o$i; py x.gen.py g$i; done\n"
                "py a.py b",
                "a.py:b",
            ),
            step(
                "git add -f x.gen.py; git commit -qm force; py x.gen.py tracked", "a.py:b", "x.gen.py:tracked"
            ),
        ),
        never=("logs/app.py", "out/o.py"),
    ),
    "a-sparse-checkout": Case(
        "py top.py top; py in/a.py a; py out/b.py b; py out/deep/c.py c; commit",
        (
            step("git sparse-checkout set --cone in", "top.py:top", "in/a.py:a"),
            step("py out/new.py new", "top.py:top", "in/a.py:a", "out/new.py:new"),
            step(
                "rm -r out; git sparse-checkout add out/deep",
                "top.py:top",
                "in/a.py:a",
                "out/b.py:b",
                "out/deep/c.py:c",
            ),
            step("git sparse-checkout disable", "top.py:top", "in/a.py:a", "out/b.py:b", "out/deep/c.py:c"),
        ),
    ),
    "git-without-a-checkout-of-its-own": Case(
        "py a.py a; commit; rm a.py",
        (
            step(":"),
            step("git checkout -q -- .", "a.py:a"),
            step("py b.py b; git add b.py; git commit -qm b; git reset -q --hard HEAD~1", "a.py:a"),
            step("git cherry-pick ORIG_HEAD >/dev/null", "a.py:a", "b.py:b"),
            step("git revert --no-edit HEAD >/dev/null", "a.py:a"),
            step("git clean -qfd; git switch -q --orphan none"),
        ),
    ),
}
