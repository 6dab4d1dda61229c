package My::Depot;
use v5.38;
use strict;
use parent -norequire, 'Base';
use Foo::Bar qw(baz quux);
use Scalar::Util;

our $VERSION = '1.0';
my %table = (a => 1, b => 2);
my ($first, @rest) = (1, 2);
use constant LIMIT => 3;
use constant { NEAR => 1, FAR => 2 };

sub forward($$);

=head1 NAME

My::Depot - where crates are

=cut

sub undocumented { 1 }

=head2 move

Moves a crate.

  $depot->move(3);

=cut

sub move {
    my ($self, $n) = @_;
    my $code = sub { 1 };
    return $n if blessed $self && $n & 0x01;
    return $n =~ s/a{1}/b/r;
}

# Sorts
# them.
sub sort_it : lvalue ($x, $y = 2) { $x }

*alias = sub { 2 };
my $counter = sub { 3 };

package My::Depot::Inner {
    sub deep { q{ {} } }
    sub My::Other::qualified { 2 }
}

class Crate 1.0 :isa(Box) {
    field $shelf :param = 0;
    method shelf { return $shelf }
    sub plain { 1 }
}

package main;

sub main { print <<"END"; }
sub not_here { }
END

subtest 'moves' => sub {
    ok 1;
};

1;
__END__

sub nor_here { }
