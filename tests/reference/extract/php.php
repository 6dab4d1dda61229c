<?php
// Functions, methods and classes by PHP-Parser: paths on standard input, one JSON line a file on standard output.
ini_set('memory_limit', '-1');
require getenv('PHP_PARSER') ?: '/usr/share/php/PhpParser/autoload.php';

use PhpParser\Node;

function rows(array $statements): array
{
    $rows = [];
    $pending = [[$statements, []]];
    while ($pending) {
        [$at, $parents] = array_pop($pending);
        if (is_array($at)) {
            foreach ($at as $each) {
                $pending[] = [$each, $parents];
            }
            continue;
        }
        if (!$at instanceof Node) {
            continue;
        }
        if ($at instanceof Node\Stmt\Namespace_ && $at->name !== null) {
            $parents = $at->name->parts;
        }
        $named = $at instanceof Node\Stmt\Function_ || $at instanceof Node\Stmt\ClassMethod
            || $at instanceof Node\Stmt\ClassLike && $at->name !== null;
        if ($named) {
            $parents[] = $at->name->toString();
            $rows[] = ['symbol' => implode('.', $parents), 'start' => $at->getStartLine(), 'end' => $at->getEndLine()];
        }
        foreach ($at->getSubNodeNames() as $name) {
            $pending[] = [$at->$name, $parents];
        }
    }
    return $rows;
}

$parser = (new PhpParser\ParserFactory())->create(PhpParser\ParserFactory::ONLY_PHP7);
while (($path = fgets(STDIN)) !== false) {
    $path = rtrim($path, "\n");
    try {
        $answer = ['path' => $path, 'rows' => rows($parser->parse(file_get_contents($path)) ?? [])];
    } catch (PhpParser\Error $error) {
        $answer = ['path' => $path, 'error' => $error->getMessage()];
    }
    echo json_encode($answer, JSON_INVALID_UTF8_SUBSTITUTE), "\n";
}
