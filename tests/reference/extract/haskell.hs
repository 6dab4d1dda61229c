{-# LANGUAGE GADTs, RankNTypes, ScopedTypeVariables #-}
-- Functions, types, classes, instances and constructors by GHC's own parser: paths on standard input, one JSON line a
-- file on standard output. A signature and the equations behind it are one. Of local names, functions with
-- parameters count. A file that needs the C preprocessor is not read.
module Main (main) where

import Control.Exception (SomeException, evaluate, try)
import Data.Data (Data, gmapQ)
import Data.List (intercalate, isPrefixOf, stripPrefix)
import Data.Maybe (fromMaybe, isJust, mapMaybe)
import Data.Typeable (cast)
import GHC.Data.FastString (mkFastString)
import GHC.Data.StringBuffer (stringToStringBuffer)
import GHC.Driver.Session
import GHC.Hs
import GHC.LanguageExtensions.Type (Extension (..))
import GHC.Parser (parseModule)
import GHC.Parser.Header (getOptions)
import GHC.Parser.Lexer (P (..), ParseResult (..), mkPState)
import GHC.Types.Name.Occurrence (occNameString)
import GHC.Types.Name.Reader (RdrName, rdrNameOcc)
import GHC.Types.SrcLoc
import System.Environment (getArgs)
import qualified GHC

data Row = Row {scope :: [(String, Int)], name :: String, first, final :: Int, kind :: Kind}
data Kind = Signature [String] | Other deriving (Eq)

text :: RdrName -> String
text = occNameString . rdrNameOcc

place :: SrcSpan -> Maybe (Int, Int)
place (RealSrcSpan s _) = Just (srcSpanStartLine s, srcSpanEndLine s - (if srcSpanEndCol s == 1 then 1 else 0))
place _ = Nothing

type Scope = [(String, Int)]

row :: Scope -> Kind -> SrcSpan -> String -> [Row]
row at what span_ called = case place span_ of
  Just (a, b) -> [Row at called a b what]
  Nothing -> []

inside :: Scope -> SrcSpan -> String -> Scope
inside at span_ called = at ++ [(called, maybe 0 fst (place span_))]

walk :: forall a. Data a => [String] -> Scope -> a -> [Row]
walk source at node
  | Just (L s d :: LHsDecl GhcPs) <- cast node = declaration source at s d
  | Just (L s b :: LHsBind GhcPs) <- cast node = binding source at s b
  | Just (L s g :: LSig GhcPs) <- cast node = signature at s g
  | Just (L s d :: LTyClDecl GhcPs) <- cast node = typeOrClass source at s d
  | Just (L s (FamilyDecl {fdLName = L _ n}) :: LFamilyDecl GhcPs) <- cast node = row at Other s (text n)
  | Just (L s c :: LConDecl GhcPs) <- cast node = concatMap (row at Other s . text) (constructors c)
  | otherwise = concat (gmapQ (walk source at) node)

constructors :: ConDecl GhcPs -> [RdrName]
constructors c = case c of
  ConDeclGADT {con_names = ns} -> map unLoc ns
  ConDeclH98 {con_name = L _ n} -> [n]
  _ -> []

declaration :: [String] -> Scope -> SrcSpan -> HsDecl GhcPs -> [Row]
declaration source at s d = case d of
  ValD _ b -> binding source at s b
  SigD _ g -> signature at s g
  TyClD _ t -> typeOrClass source at s t
  ForD _ ForeignImport {fd_name = L _ n} -> row at Other s (text n)
  InstD _ (ClsInstD _ i) ->
    let shown = headOf source (getLoc (hsSigType (cid_poly_ty i)))
        body = inside at s shown
     in row at Other s shown ++ concatMap (walk source body) (bagList i) ++ concatMap (walk source body) (cid_sigs i)
  _ -> concat (gmapQ (walk source at) d)
  where
    bagList i = foldr (:) [] (cid_binds i)
    hsSigType ty = snd (splitLHsQualTy (dropForall (hsib_body ty)))
    dropForall ty = case ty of L _ (HsForAllTy {hst_body = b}) -> b; _ -> ty

headOf :: [String] -> SrcSpan -> String
headOf source (RealSrcSpan s _) =
  let ls = take (srcSpanEndLine s - srcSpanStartLine s + 1) (drop (srcSpanStartLine s - 1) source)
      cut = case ls of
        [] -> ""
        [l] -> take (srcSpanEndCol s - srcSpanStartCol s) (drop (srcSpanStartCol s - 1) l)
        _ -> unwords ([drop (srcSpanStartCol s - 1) (head ls)] ++ init (tail ls) ++ [take (srcSpanEndCol s - 1) (last ls)])
   in unwords (words cut)
headOf _ _ = ""

signature :: Scope -> SrcSpan -> Sig GhcPs -> [Row]
signature at s g = case g of
  TypeSig _ ns _ -> signed ns
  ClassOpSig _ False ns _ -> signed ns
  PatSynSig _ ns _ -> signed ns
  _ -> []
  where signed ns = let all_ = map (text . unLoc) ns in concatMap (row at (Signature all_) s) all_

typeOrClass :: [String] -> Scope -> SrcSpan -> TyClDecl GhcPs -> [Row]
typeOrClass source at s t = case t of
  FamDecl _ FamilyDecl {fdLName = L _ n} -> row at Other s (text n)
  SynDecl {tcdLName = L _ n} -> row at Other s (text n)
  DataDecl {tcdLName = L _ n, tcdDataDefn = b} -> row at Other s (text n) ++ walk source (inside at s (text n)) (dd_cons b)
  ClassDecl {tcdLName = L _ n, tcdSigs = gs, tcdMeths = bs, tcdATs = fs} ->
    let body = inside at s (text n)
     in row at Other s (text n) ++ concatMap (walk source body) gs ++ concatMap (walk source body) (foldr (:) [] bs)
          ++ concatMap (walk source body) fs

binding :: [String] -> Scope -> SrcSpan -> HsBind GhcPs -> [Row]
binding source at s b = case b of
  FunBind {fun_id = L _ n, fun_matches = m} ->
    let here = inside at s (text n)
        parameters = case unLoc (mg_alts m) of (L _ alt : _) -> not (null (m_pats alt)); _ -> False
        listed = null at || parameters || localTo at
     in (if listed then row at Other s (text n) else []) ++ walk source (if listed then here else at) (mg_alts m)
  PatSynBind _ PSB {psb_id = L _ n} -> row at Other s (text n)
  PatBind {pat_rhs = r} -> walk source at r
  _ -> concat (gmapQ (walk source at) b)
  where localTo scope_ = case reverse scope_ of ((n, _) : _) -> isHead n; _ -> True
        isHead n = take 1 n `elem` map (: []) ['A' .. 'Z'] -- a class, an instance: what it holds is a member

merged :: [Row] -> [Row]
merged rows = mapMaybe keep rows
  where
    keep r = case kind r of
      Signature names -> if any (bound (head names) r) rows && name r == head names then Nothing
                         else if any (bound (name r) r) rows then Nothing else Just r
      Other -> Just (maybe r (\g -> r {first = first g}) (signatureOf r))
    signatureOf r = case [g | g <- rows, Signature ns <- [kind g], name g == name r, head ns == name r, scope g == scope r, first g < first r] of
      [] -> Nothing
      gs -> Just (last gs)
    bound n g r = kind r == Other && name r == n && scope r == scope g

json :: String -> String
json s = "\"" ++ concatMap each s ++ "\""
  where each c | c `elem` "\"\\" = ['\\', c]
               | c < ' ' = " "
               | otherwise = [c]

common :: [Extension]
common =
  [ BangPatterns, BinaryLiterals, ConstraintKinds, DataKinds, DefaultSignatures, DeriveAnyClass, DeriveFunctor
  , DeriveGeneric, DeriveTraversable, DerivingStrategies, DerivingVia, EmptyCase, EmptyDataDecls
  , ExistentialQuantification, ExplicitForAll, FlexibleContexts, FlexibleInstances, FunctionalDependencies, GADTs
  , GeneralizedNewtypeDeriving, InstanceSigs, KindSignatures, LambdaCase, MultiParamTypeClasses, MultiWayIf
  , RecordPuns, NumericUnderscores, OverloadedStrings, PatternGuards, PatternSynonyms, PolyKinds, RankNTypes
  , RecordWildCards, ScopedTypeVariables, StandaloneDeriving, StandaloneKindSignatures, TupleSections
  , TypeApplications, TypeFamilies, TypeOperators, ViewPatterns ]

readFile_ :: DynFlags -> FilePath -> IO String
readFile_ base path = do
  source <- readFile path
  let buffer = stringToStringBuffer source
      given = map unLoc (getOptions base buffer path)
      pragmas = [if "-X" `isPrefixOf` o then drop 2 o else o | o <- given]
      needsCpp = "CPP" `elem` pragmas || "-cpp" `elem` given
      wide = foldl xopt_set base common
  (flags, _, _) <- parseDynamicFilePragma wide (map noLoc given)
  if needsCpp then pure (failed "it needs the preprocessor") else
    case unP parseModule (mkPState flags buffer (mkRealSrcLoc (mkFastString path) 1 1)) of
      PFailed _ -> pure (failed "syntax")
      POk _ (L _ m) ->
        let rows = merged (concatMap (walk (lines source) []) (hsmodDecls m))
            shown r = "{\"symbol\":" ++ json (intercalate "." (map fst (scope r) ++ [name r])) ++ ",\"start\":" ++ show (first r) ++ ",\"end\":" ++ show (final r) ++ "}"
         in pure ("{\"path\":" ++ json path ++ ",\"rows\":[" ++ intercalate "," (map shown rows) ++ "]}")
  where failed why = "{\"path\":" ++ json path ++ ",\"error\":" ++ json why ++ "}"

main :: IO ()
main = do
  libdir : _ <- getArgs -- as `ghc --print-libdir` says
  flags <- GHC.runGhc (Just libdir) GHC.getSessionDynFlags
  paths <- lines <$> getContents
  mapM_ (each flags) paths
  where
    each flags path = do
      answer <- try (readFile_ flags path >>= \a -> evaluate (length a `seq` a))
      putStrLn (case answer of
        Right a -> a
        Left (e :: SomeException) -> "{\"path\":" ++ json path ++ ",\"error\":" ++ json (takeWhile (/= '\n') (show e)) ++ "}")
