{-# LANGUAGE GADTs #-}
-- | Module doc
module Data.Depot (Crate(..), f) where
import qualified Data.Map as M
import Data.List (sort, nub)
-- | doc
data Crate a = Crate { name :: String, n :: a } | Empty deriving (Show, Eq)
newtype W = W { unW :: Int }
type Alias = Map String Int
class Monoid' a where
  mempty' :: a
  mappend' :: a -> a -> a
  mappend' x y = x
instance Show (Crate a) => Monoid' (Crate a) where
  mempty' = Empty
-- | f doc
f :: Int -> Int
f 0 = 1
f n | n > 1 = 2
    | otherwise = g n
  where g x = x
limit :: Int
limit = 3
infixl 6 <+>
(<+>) :: a -> a -> a
a <+> b = a
x `op` y = x
data G a where
  GI :: Int -> G Int
type family F a where
  F Int = Bool
deriving instance Show W
pattern P x = Just x
foreign import ccall "sin" c_sin :: Double -> Double
main = do
  let h y = y
  print 1
(p, q) = (1, 2)

pattern Pair :: a -> a -> Both a
pattern Pair a b = Both a (Inner b)
pattern x :| y <- Cons x y

foreign import ccall "sin" c_sin :: Double -> Double
foreign export ccall move :: Int -> Crate -> Crate
