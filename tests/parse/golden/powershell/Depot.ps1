<#
.SYNOPSIS
Crates and where they are.
#>
#requires -Version 5
using namespace System.IO
using module Shelves
Import-Module Bar -Force

$script:Limit = 3

<#
.SYNOPSIS
    Gets crates.
    All of them.
.PARAMETER Name
    Of the crate.
#>
function Get-Crate {
    [CmdletBinding()]
    param([string] $Name, $Most = 3)
    begin { $a = 1 }
    process {
        function Select-Inner($y) { $y }
        Get-ChildItem $PSScriptRoot/crates -Include *.json, *.xml | Where-Object { $_.Name -like "{$Name" }
    }
    end {}
}

function global:Save-Crate([string] $Path, [int] $Depth = 2) {
    <# .SYNOPSIS
       Writes it down. #>
    $text = @"
function Not-Here { "$(Get-Date -Format "yyyy")
"@
    Set-Content $Path -Value $text
}

filter Select-Odd { if ($_ % 2) { $_ } }

# A crate.
[Serializable()]
class Crate : Shelf, IComparable {
    # Painted on it.
    [string] $Name
    hidden [int] $age = 3
    [ValidateSet('red', 'blue')] [string] $Colour
    [DscProperty(Mandatory)]
    [ValidateRange(0, 21)]
    [Nullable[int]] $Weight

    Crate([string] $n) : base($n) { $this.Name = $n }

    [void] Push([string] $what) { Write-Host $what }
    [void] Push([int] $what) { Write-Host $what }
    static [Crate] Make() { return [Crate]::new("x") }
}

[Flags()] enum Colour { Red = 1; Green
Blue }

Describe "Get-Crate" -Tag 'fast', 'unit' {
    It 'finds one' { Get-Crate | Should -Be 1 }
}
