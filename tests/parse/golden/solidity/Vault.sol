// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {IERC20 as Token} from "./IERC20.sol";

error NotOwner(address who);
uint256 constant LIMIT = 1 ether;

/// @notice Holds things.
abstract contract Vault is Base {
    struct Entry { uint128 amount; }
    enum State { Open, Shut }
    event Moved(address indexed from, uint256 value);
    uint public total;
    modifier onlyOwner() virtual { _; }
    constructor(address t) payable { }
    receive() external payable {}
    fallback() external { }
    /// Takes.
    function take(uint256 a) external returns (bool) { return true; }
}

interface IVault { function take(uint256 a) external returns (bool); }
library Math { function max(uint a) internal pure returns (uint) { return a; } }
function free(uint256 a) pure returns (uint256) { return a; }
type Price is uint128;
