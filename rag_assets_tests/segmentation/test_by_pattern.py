"""Languages without a grammar: declarations by the lines that begin them, with documentation, place and members."""

from __future__ import annotations

import time
from inspect import cleandoc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.contracts.segment import ParseHealth
from rag_assets.languages.by_pattern.table import PATTERNS
from rag_assets.languages.detection import LANGUAGES, SourceType, detect_language
from rag_assets.segmentation import segment_file
from rag_assets_tests.segmentation.outline import check_invariants, member, named, outline

FILES = {
    "src/cart.rs": (
        """
        // Copyright 2024 The authors. Licensed under MIT.
        use std::{
            fmt,
        };

        /// What a customer {wants.
        #[derive(Debug)]
        pub struct Cart<'a> {
            /// The lines.
            pub lines: Vec<Line>,
            owner: &'a str,
        }

        impl<'a> Cart<'a> {
            pub const fn new(owner: &'a str) -> Self { Cart { lines: vec![], owner } }
            pub(crate) async fn total(&self) -> u32
            where
                Self: Sized,
            {
                let brace = '{';
                fn local() {}
                0
            }
        }

        impl fmt::Display for Cart<'_> {
            fn fmt(&self) -> fmt::Result { Ok(()) }
        }

        impl Print for Vec<u8> {
            fn print(&self) {}
        }

        pub enum State { Open }

        macro_rules! cart { () => {}; }

        #[cfg(test)]
        mod tests {
            #[test]
            fn is_empty() { assert!(true); }
        }
        """,
        [
            "struct src/cart.Cart",
            "  field lines",
            "  field owner",
            "impl src/cart.Cart",
            "  constructor new",
            "  method total",
            "impl src/cart.Cart",
            "  method fmt",
            "module src/cart",
            "  method Vec.print",
            "  function cart",
            "enum src/cart.State",
            "namespace src/cart.tests",
            "  method is_empty",
        ],
    ),
    "src/Cart.kt": (
        """
        package shop.cart

        import kotlin.math.max

        /** Wanted things. */
        @Serializable
        data class Cart(val owner: String) : Base(), Named {
            val lines = mutableListOf<Line>()
            override fun total(
                rate: Int = 1,
            ): Int = lines
                .sumOf { it.price }
            companion object {
                fun empty() = Cart("")
            }
        }

        fun <T> List<T>.second(): T = this[1]
        """,
        [
            "class shop.cart.Cart",
            "  field lines",
            "  method total",
            "  type companion",
            "    method empty",
            "module src/Cart",
            "  function second",
        ],
    ),
    "src/Cart.php": (
        """
        <?php
        namespace Shop\\Cart;

        use Shop\\Line;

        final class Cart extends Base implements Countable
        {
            public const LIMIT = 3;
            private ?string $owner = '}';
            public function __construct(string $owner) { $this->owner = $owner; }
            /** How many. @return int */
            public function count(): int { return 0; }
        }
        """,
        ["class Shop\\Cart.Cart", "  field LIMIT", "  field owner", "  constructor __construct", "  method count"],
    ),
    "lib/cart.rb": (
        """
        # frozen_string_literal: true
        module Shop
          # Wanted things.
          class Cart < Base
            LIMIT = 3
            attr_reader :lines
            def initialize(owner)
              @text = <<~TEXT
                def not_a_method
              TEXT
            end

            def self.empty?; true; end
          end

          module Tax
            def rate
              2
            end
          end
        end
        """,
        [
            "class Shop.Cart",
            "  field LIMIT",
            "  field lines",
            "  constructor initialize",
            "  method empty?",
            "namespace Shop.Tax",
            "  method rate",
        ],
    ),
    "include/cart.h": (
        """
        #pragma once
        #include <vector>

        namespace shop {

        class SHOP_API Cart final : public Base<int> {
        public:
            explicit Cart(int owner);
            ~Cart() override;
            int total() const { return (sum_); }
        private:
            int sum_ = 0;
        };

        #ifdef WIDE
        inline int wide(int a) {
        #else
        inline int narrow(int a) {
        #endif
            return a;
        }

        int Cart::size(const Cart &other)
        {
            if (other) { return 1; }
            return 0;
        }

        typedef struct {
            int price;
        } line_t;

        enum class Kind { A, B };

        TEST_CASE("is empty", "[cart]") {
            check(1);
        }
        }
        """,
        [
            "class shop.Cart",
            "  constructor Cart",
            "  constructor ~Cart",
            "  method total",
            "  field sum_",
            "module include/cart",
            "  function wide",
            "  function Cart::size",
            "  function is empty, [cart]",
            "struct shop.line_t",
            "  field price",
            "enum shop.Kind",
        ],
    ),
    "src/Cart.fs": (
        """
        namespace Shop

        open System

        [<AutoOpen>]
        module Carts =
            /// What a <see cref="T:Shop.Cart"/> costs.
            let total (cart: Cart) =
                let local = 1
                local

            type Cart =
                { Owner: string }
                member this.Count = 0
        """,
        ["namespace Shop.Carts", "  method total", "  type Cart", "    method Count"],
    ),
    "src/Cart.swift": (
        """
        /// Wanted things.
        public struct Cart: Codable {
          var lines: [Line] = []
          public init(owner: String) { }
          func total() -> Int {
            lines.count
          }
        }
        extension Cart: Equatable {
          static func == (a: Cart, b: Cart) -> Bool { true }
        }
        extension String {
          func shout() -> String { self }
          @Kept final class Case: Codable {
            var upper = true
          }
        }
        """,
        [
            "struct Cart",
            "  field lines",
            "  constructor init",
            "  method total",
            "extension Cart",
            "  method ==",
            "module src/Cart",
            "  method String.shout",
            "class String.Case",
            "  field upper",
        ],
    ),
    "src/Cart.scala": (
        """
        package shop

        sealed trait Named[+T] extends Base[T] {
          def name: String
        }
        object Cart {
          val limit = 3
          def total(lines: List[Int]): Int =
            lines.sum
        }
        """,
        ["interface shop.Named", "  method name", "class shop.Cart", "  field limit", "  method total"],
    ),
    "lib/cart.ex": (
        '''
        defmodule Shop.Cart do
          @moduledoc """
          Wanted things.
          """

          @doc "Adds."
          @spec total(t) :: integer
          def total([]), do: 0

          def total([first | rest]) do
            first + total(rest)
          end

          defp limit, do: 3
        end
        ''',
        ["namespace Shop.Cart", "  method total", "  method limit"],
    ),
    "src/cart.lua": (
        """
        local M = {}
        -- How much.
        function M.total(cart)
          local function inner() end
          return 0
        end
        M.empty = function() return {} end
        return M
        """,
        [
            "module src/cart",
            "  statements lines 1-1",
            "  function M.total",
            "  function M.empty",
            "  statements lines 8-8",
        ],
    ),
    "Cart.psm1": (
        """
        function Get-Cart {
            <#
            .SYNOPSIS
            Reads a cart.
            #>
            param([string] $Owner)
            if ($Owner) { "}" }
        }

        class Cart {
            [int] $Total
        }
        """,
        ["module Cart", "  function Get-Cart", "class Cart", "  field Total"],
    ),
    "Cart.vb": (
        """
        Imports System

        Namespace Shop
            ''' <summary>Wanted things.</summary>
            Public Class Cart
                Inherits Base
                Private owner As String ' of the cart
                Public Property [End] As String
                Public Sub New(owner As String)
                    Me.owner = owner
                End Sub
                Public Overrides Function Total() As Integer
                    Return 0
                End Function
            End Class
        End Namespace
        """,
        ["class Shop.Cart", "  field owner", "  method End", "  constructor New", "  method Total"],
    ),
    "src/Cart.hs": (
        """
        module Shop.Cart (total) where

        import Data.List (sort)

        -- | Wanted things.
        data Cart = Cart { owner :: String }

        -- | How much.
        total :: Cart -> Int
        total (Cart "") = 0
        total _ = 1
        """,
        ["type Shop.Cart.Cart", "module src/Cart", "  function total"],
    ),
    "cart.sh": (
        """
        #!/bin/sh
        # Prints a cart.
        set -e
        total() {
          echo "${1#x}"
        }
        function empty {
          cat <<EOF
        }
        EOF
        }
        """,
        ["module cart", "  statements lines 3-3", "  function total", "  function empty"],
    ),
    "main.tf": (
        """
        # Where carts are kept.
        resource "aws_s3_bucket" "carts" {
          bucket = "carts"
        }
        variable "region" {}
        """,
        ["module main", "  function resource aws_s3_bucket carts", "  function variable region"],
    ),
    "schema.prisma": (
        """
        datasource db {
          provider = "postgresql"
        }
        /// What a customer wants.
        model Cart {
          id   Int    @id @default(autoincrement())
          type String @map("kind")
          @@index([type])
        }
        enum State {
          OPEN
          PAID
        }
        """,
        [
            "module schema",
            "  statements lines 1-3",
            "model Cart",
            "enum State",
        ],
    ),
    "cart.proto": (
        """
        syntax = "proto3";
        package shop.v1;
        message Cart {
          repeated Line lines = 1;
        }
        service Carts {
          rpc Get(GetRequest) returns (Cart);
        }
        """,
        [
            "module cart",
            "  statements lines 1-1",
            "struct shop.v1.Cart",
            "  field lines",
            "service shop.v1.Carts",
            "  method Get",
        ],
    ),
    "cart.dart": (
        """
        import 'dart:math';
        class Cart extends Base {
          Cart(this.owner);
          final String owner;
          int total(int rate) {
            return rate;
          }
        }
        """,
        ["class cart.Cart", "  constructor Cart", "  field owner", "  method total"],
    ),
    "provider.dart": (
        """
        final carts = Provider((ref) { return Carts(); });
        class Carts<T> {
          Carts.empty({this.all = const []});
          static Carts<T>? of<T>(Context context, {bool listen = true}) {
            return context.find<Carts<T>>();
          }
          int get count => all.length;
          set first(T one) { all[0] = one; }
          Future<List<String?>> names() async => [];
          var all = [];
        }
        """,
        [
            "module provider",
            "  field carts",
            "class provider.Carts",
            "  constructor Carts",
            "  method of",
            "  method count",
            "  method first",
            "  method names",
            "  field all",
        ],
    ),
    "Cart.h": (
        """
        #import "Line.h"
        @class Line;
        @protocol Printing;
        /** Wanted things. */
        @interface Cart : Base <Printing>
        @property (nonatomic, strong) Line *first;
        + (instancetype)empty;
        - (int)totalWith:(int)rate and:(int)more;
        @end
        """,
        ["class Cart", "  field first", "  method empty", "  method totalWith"],
    ),
    "Cart.m": (
        """
        #import "Cart.h"
        @interface NSString (Trimmed)
        - (NSString *)trimmed;
        @end
        @implementation Cart
        static int rate = 1;
        - (int)totalWith:(int)rate {
            return [self.lines count] * rate;
        }
        @end
        int main(void) { return 0; }
        """,
        [
            "module Cart",
            "  method NSString.trimmed",
            "  statements lines 6-6",
            "  method Cart.totalWith",
            "  function main",
        ],
    ),
    "old.c": (
        """
        int count();

        static int
        total(lines, rate)
        struct line *lines;
        int rate;
        {
            if (rate)
            {
                return rate;
            }
            return 0;
        }

        main(argc, argv) /* begins */
        char **argv;
        {
        }

        show ()
        /* all of
           them */
        {
        }
        """,
        ["module old", "  statements lines 1-1", "  function total", "  function main", "  function show"],
    ),
    "cpu.v": (
        """
        `include "alu.v"
        // Runs it.
        module cpu #(
            parameter [0:0] WIDE = 1
        `ifdef DEBUG
            , parameter LOUD = 1
        `endif
        ) (
            input clk
        );
            function [31:0] plus;
                input [31:0] a;
                plus = a + 32'h 1;
            endfunction
        endmodule

        module other;
        endmodule
        """,
        ["namespace cpu", "  field WIDE", "  method plus", "namespace other"],
    ),
    "Records.fs": (
        """
        module Shop.Records

        type Line = {
            Price: decimal
        } with

            member this.Doubled() = this.Price * 2m

        let all = [
            1
        ]
        """,
        ["type Shop.Records.Line", "  method Doubled", "module Records", "  function all"],
    ),
    "cart.clj": (
        """
        (ns shop.cart)
        ; How much.
        (defn total [lines]
          (reduce + lines))
        """,
        ["module cart", "  function total"],
    ),
    "cart.zig": (
        """
        const std = @import("std");
        pub const Cart = struct {
            total: u32,
            pub fn init() Cart { return .{ .total = 0 }; }
        };
        test "is empty" { }
        """,
        ["module cart", "  field std", "  function is empty", "struct cart.Cart", "  field total", "  method init"],
    ),
}  # fmt: skip


@pytest.mark.rule("A04")
@pytest.mark.parametrize("path", FILES)
def test_declarations_are_found_with_what_is_inside_of_them(path: str) -> None:
    source, expected = FILES[path]
    text = cleandoc(source) + "\n"
    extension = path.rpartition(".")[2]
    language = next(name for name, known in LANGUAGES.items() if extension in known.extensions.split())
    file = segment_file(text, path, language)
    assert file.health is ParseHealth.BY_PATTERNS
    assert outline(file) == expected
    check_invariants(text, file)
    crlf = text.replace("\n", "\r\n")
    check_invariants(crlf, segment_file(crlf, path, language))


def test_documentation_attributes_and_bases_belong_to_their_declaration() -> None:
    text = cleandoc(FILES["src/cart.rs"][0])
    file = segment_file(text, "src/cart.rs", "rust")
    cart = named(file, "Cart")
    assert (cart.doc, cart.signature) == ("What a customer {wants.", "pub struct Cart<'a>")
    assert cart.span.slice(text).startswith("/// What a customer")
    assert cart.span.slice(text).endswith("owner: &'a str,\n}")
    assert member(cart, "lines").doc == "The lines."
    own, shown = (segment for segment in file.segments if segment.kind == "impl")
    assert (shown.base_list, shown.doc) == (("fmt::Display",), cart.doc), "an impl is told of by what its type says"
    total = member(own, "total")
    assert total.signature == "pub(crate) async fn total(&self) -> u32 where Self: Sized,"
    assert total.span.slice(text).rstrip().endswith("0\n    }")
    (test,) = named(file, "tests").members
    assert test.attributes == ("test",)
    assert named(file, "cart").usings == ("std::",)
    assert "Copyright" not in named(file, "cart").doc


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.fs", '[<Theory; InlineData("a", 1)>]\nlet a () = 1', ["Theory", 'InlineData("a", 1)']),
        ("a.vb", "<Fact>\nPublic Sub A()\nEnd Sub", ["Fact"]),
        ("a.vb", "<Fact, Trait(1, 2)> Public Sub A()\nEnd Sub", ["Fact", "Trait(1, 2)"]),
        ("a.kt", "@Test fun a() = 1", ["Test"]),
        ("a.kt", "@Headers(1,\n    2)\nfun a() = 1", ["Headers(1, 2)"]),
        ("a.swift", "@Test(1)\n@MainActor\nfunc a() {}", ["Test(1)", "MainActor"]),
        ("a.rs", "#[tokio::test]\nasync fn a() {}", ["tokio::test"]),
        ("a.rs", '#[derive(A, B), serde(rename = "]")]\nfn a() {}', ["derive(A, B)", 'serde(rename = "]")']),
        (
            "a.php",
            "<?php\n#[ORM\\Table(\n    name: 'a, b)',\n    indexes: [new Index(columns: ['a', 'b'])],\n)]\n"
            "function a() {}",
            ["ORM\\Table( name: 'a, b)', indexes: [new Index(columns: ['a', 'b'])], )"],
        ),
        ("a.cpp", "template <class T>\nint a() { return 1; }", []),
        ("a.cpp", "TEST_F(Suite, Case) {\n}", ["Test"]),
        ("a.exs", 'test "adds", %{a: a} do\n  1\nend', ["Test"]),
    ],
)
def test_attributes_are_those_that_the_language_writes(path: str, text: str, expected: list[str]) -> None:
    (module,) = segment_file(text, path, detect_language(path)).segments
    assert [list(one.attributes) for one in module.members] == [expected]


def test_bases_are_those_that_the_language_writes() -> None:
    def bases(path: str, language: str, name: str) -> tuple[str, ...]:
        return named(segment_file(cleandoc(FILES[path][0]), path, language), name).base_list

    assert bases("src/Cart.kt", "kotlin", "Cart") == ("Base", "Named")
    assert bases("src/Cart.php", "php", "Cart") == ("Base", "Countable")
    assert bases("lib/cart.rb", "ruby", "Cart") == ("Base",)
    assert bases("include/cart.h", "c", "Cart") == ("Base",)
    assert bases("Cart.h", "objectivec", "Cart") == ("Base", "Printing")
    assert bases("src/Cart.scala", "scala", "Named") == ("Base",)
    assert bases("src/Cart.swift", "swift", "Cart") == ("Codable",)


def test_an_access_label_is_no_type_of_a_constructor() -> None:
    cart = named(segment_file("class Cart {\npublic:\n    Cart(int owner);\n};\n", "a.cc", "cpp"), "Cart")
    assert (member(cart, "Cart").signature, member(cart, "Cart").span.line_start) == ("Cart(int owner)", 3)


def test_documentation_is_plain_text_whatever_marks_a_comment_of_the_language() -> None:
    def doc(path: str, language: str, owner: str, name: str = "") -> str:
        file = segment_file(cleandoc(FILES[path][0]), path, language)
        owners = [segment for segment in file.segments if segment.name == owner]
        docs = [found.doc for segment in owners for found in segment.members if found.name == name]
        return docs[0] if name else owners[0].doc

    assert doc("src/Cart.fs", "fsharp", "Carts", "total") == "What a Shop.Cart costs."
    assert doc("Cart.vb", "vb", "Cart") == "Wanted things."
    assert doc("lib/cart.ex", "elixir", "Shop.Cart") == "Wanted things."
    assert doc("Cart.psm1", "powershell", "Cart", "Get-Cart") == ".SYNOPSIS\nReads a cart."
    assert doc("src/cart.lua", "lua", "cart", "M.total") == "How much."
    assert doc("src/Cart.hs", "haskell", "Cart", "total") == "| How much."
    assert doc("cart.sh", "shell", "cart") == "Prints a cart."


def test_what_no_declaration_covers_stays_text_of_the_file_but_a_licence() -> None:
    text = cleandoc(
        """
        // Copyright 2024 The authors
        #pragma once
        #include <string>
        typedef int level_t;

        // Levels are read from the variable LOG_LEVEL of the environment.

        namespace log {
        void load();
        }
        """
    )
    (module,) = segment_file(text, "env.h", "c").segments
    assert [found.span.line_start for found in module.members] == [4, 9]
    assert "level_t" in module.members[0].span.slice(text)
    assert "LOG_LEVEL" in module.members[0].span.slice(text)


def test_a_raw_string_begins_a_word() -> None:
    text = 'auto a = u8R"(\n}\nint not_one() {\n)";\nprintf(PRIR"(%d)", 1);\nint one() { return 1; }\n'
    assert outline(segment_file(text, "a.cpp", "cpp"))[-1] == "  function one"
    assert not any("not_one" in line for line in outline(segment_file(text, "a.cpp", "cpp")))


def test_a_field_of_c_may_be_a_function() -> None:
    text = "struct hooks {\n    int count;\n    void (*close)(struct hooks *, int);\n    char *(*read) (int);\n};\n"
    (found,) = segment_file(text, "a.h", "c").segments
    assert [(one.name, one.span.slice(text).strip()) for one in found.members] == [
        ("count", "int count;"),
        ("close", "void (*close)(struct hooks *, int);"),
        ("read", "char *(*read) (int);"),
    ]


def test_a_prototype_declares_a_function_in_a_header_alone() -> None:
    text = "int open_log(const char *path);\nvoid close_log(void);\n\nint size(void) {\n    return 1;\n}\n"
    (header,), (source,) = (segment_file(text, path, "c").segments for path in ("log.h", "net.c"))
    assert [one.name for one in header.members] == ["open_log", "close_log", "size"]
    assert [one.name for one in source.members] == ["lines 1-2", "size"]


def test_the_fields_of_a_schema_of_ecto_are_members_of_its_module() -> None:
    text = (
        'defmodule Shop.Order do\n  schema "orders" do\n    field :total, :integer\n    belongs_to :user, Shop.User\n'
        "  end\n\n  def total(order) do\n    field = order.total\n    field\n  end\nend\n"
    )
    (module,) = segment_file(text, "lib/order.ex", "elixir").segments
    assert [(one.kind.value, one.name) for one in module.members] == [
        ("field", "total"),
        ("field", "user"),
        ("method", "total"),
    ]


def test_the_cases_of_bats_are_tests() -> None:
    text = '#!/usr/bin/env bats\n\nsetup() {\n  mkdir a\n}\n\n@test "prints a help" {\n  run app\n}\n'
    members = segment_file(text, "test/app.bats", detect_language("test/app.bats")).segments[0].members
    assert [(one.name, one.attributes[-1:]) for one in members[-2:]] == [("setup", ()), ("prints a help", ("Test",))]


def test_a_string_that_a_word_of_its_own_ends_hides_what_is_in_it_and_no_more() -> None:
    hidden = "  some words\n" * 500 + "  def hidden\n  end\n"
    text = f"a = <<~DOC\n{hidden}DOC\nb <<NEVER\ndef seen\nend\n"
    assert [line for line in outline(segment_file(text, "a.rb", "ruby")) if "  function" in line] == ["  function seen"]


def test_a_file_that_declares_nothing_is_windows() -> None:
    file = segment_file("puts 'hello'\n", "a.rb", "ruby")
    assert (file.health, [segment.kind for segment in file.segments]) == (ParseHealth.NO_GRAMMAR, ["file"])


def test_every_language_of_the_table_is_code() -> None:
    assert all(LANGUAGES[name].source_type is SourceType.CODE for name in PATTERNS)


HEADS = """
fn a( | impl A for B { | class A { | struct A { | } A; | def a | end | module A | module A = | let a = | #if | #else
#endif | #define A(b) \\ | namespace a { | namespace A | a b(c) { | A::a() { | fun a( | val a |   val b | function a {
package a | <<~A | A | -- a | --[[ | ]] | (* a | *) | {- | -} | <# | #> | \"\"\" | ' | " | @doc \"\"\" | /// a | // a
# a | /* | */ | a -> b | a :: b | (defn a [b] | resource "a" "b" { | TEST(a, b) | } | { | ) | ( | ; |   a: b, | \t
Public Class A | End Class | case a | extension A { | é𝄞 | \x00 | \ufeff
"""
LINES = st.tuples(
    st.sampled_from(["", "  ", "\t", "        "]),
    st.sampled_from([head for line in HEADS.strip("\n").split("\n") for head in line.split(" | ")]),
).map("".join)


@pytest.mark.rule("A07")
@pytest.mark.parametrize("language", sorted(PATTERNS))
@given(
    text=st.lists(LINES, max_size=25).flatmap(
        lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines))
    )
)
@settings(max_examples=40)
def test_any_text_gives_valid_segments(language: str, text: str) -> None:
    check_invariants(text, segment_file(text, "src/some file.x", language))


@pytest.mark.parametrize("language", sorted(PATTERNS))
@pytest.mark.parametrize(
    "piece", ["class A {\n", "a b(\n", "#define A(\\\n", "<<A\n", 'R"(', "impl<", "let a =\n  ", "@a(b) "]
)
def test_hostile_repetitions_end_in_valid_segments(language: str, piece: str) -> None:
    """No crash, and no recursion error: that comes after a thousand."""
    text = piece * 1_500
    check_invariants(text, segment_file(text, "a.x", language))


@pytest.mark.parametrize(
    ("path", "piece"),
    [
        ("a.rs", "#[a] "),
        ("a.php", "#[a] "),
        ("a.fs", "[<A>] "),
        ("a.rs", "use a\n"),
        ("a.ps1", '@"\n'),
        ("a.c", "#define A(x) \\\n"),
        ("a.rb", "def a\n"),
        ("a.rs", 'r#"'),
        ("a.rb", "<<A\n"),
        ("a.php", "<<<A\n"),
        ("a.cpp", 'R"a('),
        ("a.m", "@interface A\n"),
        ("a.c", "a(b)\nint c;\n"),
        ("a.c", "a(\n"),
        ("a.c", "- (a)b\n"),
        ("a.c", "a(b)\n/* c */\n"),
        ("a.dart", "final a b "),
        ("a.dart", "a<b> c\n"),
        ("a.kt", ")\n"),
    ],
)
def test_hostile_repetitions_take_linear_time(path: str, piece: str) -> None:
    language = detect_language(path)
    head = "fn a() {}\nfunction a() {}\n"
    started = time.process_time()
    segment_file(head + piece * (120_000 // len(piece)), path, language)
    assert time.process_time() - started < 5


def test_an_import_of_powershell_ends_with_its_line() -> None:
    text = "Import-Module Posh\n$shown = Get-Setting\nWrite-Host $shown\n\nfunction Get-Setting {\n}\n"
    (module,) = segment_file(text, "src/start.ps1", "powershell").segments
    assert any("Write-Host" in one.span.slice(text) for one in module.members)
