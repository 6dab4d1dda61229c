// Package store keeps things.
package store

import (
	"fmt"
	yaml "gopkg.in/yaml.v3"
	_ "embed"
)

import "strings"

const Limit = 10

const (
	// A is first.
	A = iota
	B
)

var x, y = 1, 2

// Stack is a stack.
//
// It grows.
type Stack[T any] struct {
	items []T
}

type (
	// Key is a key.
	Key interface {
		// Hash gives the hash.
		Hash() uint64
		fmt.Stringer
	}
	Alias = Stack[int]
)

// Push adds.
func (s *Stack[T]) Push(v T) {
	s.items = append(s.items, v)
}

func (Key2) None() {}

//go:noinline
func Map[K, V any](in map[K]V) (out []V) {
	type local struct{ a int }
	go func() { fmt.Println(strings.ToUpper("x")) }()
	return
}

func external(x int) int
