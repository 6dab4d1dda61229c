# Packages and subroutines by PPI: paths on standard input, one JSON line a file on standard output.
use strict;
use warnings;
use JSON::PP;
use PPI;

my $json = JSON::PP->new->utf8->canonical;

sub last_line {
    my $token = $_[0]->last_token;
    my $text = $token->content;
    chomp $text;
    return $token->line_number + ($text =~ tr/\n//);
}

sub row {
    my ($names, $node) = @_;
    return { symbol => join('.', @$names), start => $node->line_number, end => last_line($node) };
}

# The package of a statement that lies in no block of its own is the last one before it.
sub walk {
    my ($node, $parents, $package, $rows) = @_;
    my $current = $package;
    for my $child ($node->can('children') ? $node->children : ()) {
        my ($inside, $own) = ($parents, $current);
        if ($child->isa('PPI::Statement::Package')) {
            my @names = split /::|'/, $child->namespace;
            push @$rows, row(\@names, $child);
            if (grep { $_->isa('PPI::Structure::Block') } $child->children) { ($inside, $own) = ([], \@names) }
            else { $current = \@names }
        }
        elsif ($child->isa('PPI::Statement::Sub') && !$child->isa('PPI::Statement::Scheduled') && !$child->forward && $child->name) {
            my @names = split /::|'/, $child->name;
            my @all = @names > 1 ? @names : (@$current, @$parents, @names);
            push @$rows, row(\@all, $child);
            $inside = @names > 1 ? [@names] : [@$parents, @names];
            $own = [] if @names > 1;
        }
        walk($child, $inside, $own, $rows);
    }
}

while (my $path = <STDIN>) {
    chomp $path;
    my $answer = eval {
        my $document = PPI::Document->new($path, readonly => 1) or die(PPI::Document->errstr || 'not read');
        $document->index_locations;
        my @rows;
        walk($document, [], [], \@rows);
        { path => $path, rows => \@rows };
    } || { path => $path, error => "$@" };
    print $json->encode($answer), "\n";
}
