// Package store keeps.
package store

import (
	"fmt"
	str "strings"
	"unused"
)

const Limit = 3 // rows

// Store keeps rows.
type Store struct{ rows []string }

func (s *Store) Put(x string) error {
	return fmt.Errorf("%s %d", str.ToLower(x), Limit)
}
