"""Tables of other libraries than EF Core: types that a mapper keeps in one, and tables that code makes and changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets import Index
from rag_assets_tests.cli.conftest import opened_index

JAVA = {
    "README.md": "# Harbour\n\nShips and cargo.\n",
    "src/main/java/org/harbour/Ship.java": "package org.harbour;\n\n@Entity\n"
    '@Table(name = "`ships`", schema = "port")\n'
    "public class Ship {\n    @Id\n    private Long id;\n    private String flag;\n}\n",
    "src/main/java/org/harbour/CargoItem.java": "package org.harbour;\n\n@jakarta.persistence.Entity\n"
    "public class CargoItem {\n    private Long id;\n}\n",
    "src/main/java/org/harbour/Crew.java": "package org.harbour;\n\n@Entity\npublic class Crew {\n"
    "    private Long id;\n}\n",
    "src/main/java/org/harbour/EntityView.java": "package org.harbour;\n\n@EntityScan\npublic class EntityView { }\n",
    "src/main/resources/schema.sql": "CREATE TABLE cargo_item (id bigint NOT NULL);\n",
}
KOTLIN = {
    "app/data/Plant.kt": 'package app\n\nimport androidx.room.*\n\n@Entity(tableName = "plants")\n'
    "data class Plant(@PrimaryKey val id: String, val name: String)\n",
    "app/data/Planting.kt": 'package app\n\nimport androidx.room.*\n\n@Entity(\n    tableName = "plantings",\n'
    '    foreignKeys = [\n        ForeignKey(entity = Plant::class, parentColumns = ["id"])\n    ]\n)\n'
    'data class Planting(\n    @ColumnInfo(name = "plant_id") val plantId: String\n)\n',
    "app/data/PlantDao.kt": "package app\n\nimport androidx.room.*\n\n@Dao\ninterface PlantDao {\n"
    '    @Query("SELECT * FROM plants ORDER BY name")\n    fun getPlants(): List<Plant>\n}\n',
    "web/src/user.entity.ts": "import { Entity } from 'typeorm';\n\n@Entity('users')\nexport class UserEntity {\n"
    "  @PrimaryColumn()\n  id: number;\n}\n",
}
LARAVEL = {
    "app/Models/Book.php": "<?php\n\nnamespace App\\Models;\n\nuse Illuminate\\Database\\Eloquent\\Model;\n\n"
    "class Book extends Model\n{\n    protected $hidden = [];\n}\n",
    "app/Models/Reader.php": "<?php\n\nnamespace App\\Models;\n\nclass Reader extends Authenticatable\n{\n}\n",
    "database/factories/Models/BookFactory.php": "<?php\n\nnamespace Database\\Factories\\Models;\n\n"
    "class BookFactory extends Factory\n{\n    protected $model = Book::class;\n}\n",
    "database/migrations/2020_01_01_000000_create_books.php": "<?php\n\nreturn new class extends Migration\n{\n"
    "    public function up(): void\n    {\n        Schema::create('books', function (Blueprint $table) {\n"
    "            $table->string('isbn');\n        });\n    }\n\n    public function down(): void\n    {\n"
    "        Schema::drop('books');\n    }\n};\n",
    "database/migrations/2021_01_01_000000_add_pages.php": "<?php\n\nreturn new class extends Migration\n{\n"
    "    public function up(): void\n    {\n        Schema::table('books', function (Blueprint $table) {\n"
    "            $table->integer('page_count');\n        });\n    }\n\n    public function down(): void\n    {\n"
    "        // Schema::table('shelves', nothing);\n"
    "        Schema::table('books', fn ($t) => $t->dropColumn('page_count'));\n"
    "    }\n};\n",
    "database/migrations/2022_01_01_000000_create_loans.php": "<?php\n\nreturn new class extends Migration\n{\n"
    "    public function up(): void\n    {\n        Schema::create('loans', function (Blueprint $table) {\n"
    "            $table->date('due');\n        });\n    }\n};\n",
    "app/Reports/Loans.php": "<?php\n\nclass Loans\n{\n    public function count()\n    {\n"
    "        return DB::select('SELECT count(*) FROM loans');\n    }\n}\n",
    "routes/api.php": "<?php\n\nRoute::get('books', [BookController::class, 'list']);\n"
    "Route::post('books', [BookController::class, 'create']);\n",
    "routes/web.php": "<?php\n\nRoute::get('/api', [DocsController::class, 'show']);\n",
}
_FLUENT = """\
using FluentMigrator;

namespace Depot.Migrations;

[Migration({0})]
public class {1} : Migration
{{
    public override void Up()
    {{
        {2}
    }}

    public override void Down()
    {{
        {3}
    }}
}}
"""
FLUENT = {
    f"src/Migrations/{number:03}_{name}.cs": _FLUENT.format(number, name, up, down)
    for number, name, up, down in (
        (
            1,
            "Initial",
            'Create.Table("Pallets")\n            .WithColumn("Bay").AsInt32();',
            'Delete.Table("Pallets");',
        ),
        (2, "Trucks", 'Create.TableForModel("Trucks").WithColumn("Plate").AsString();', 'Delete.Table("Trucks");'),
        (3, "Weight", 'Alter.Table("Pallets").AddColumn("Weight").AsInt32();', ""),
        (4, "Less", '// Create.Table("Racks");\n        Delete.Table("Trucks");', 'Create.Table("Trucks");'),
        (5, "Doors", 'Rename.Table("Pallets").To("Crates");', 'Rename.Table("Crates").To("Pallets");'),
    )
}
RAILS = {
    "db/schema.rb": 'ActiveRecord::Schema.define(version: 2) do\n  create_table "boats", force: :cascade do |t|\n'
    '    t.string "name"\n    t.integer "length"\n  end\n\n  create_table "moorings" do |t|\n'
    '    t.string "pier"\n  end\nend\n',
    "db/migrate/20200101000000_create_boats.rb": "class CreateBoats < ActiveRecord::Migration[7.0]\n  def change\n"
    "    create_table :boats do |t|\n      t.string :name\n    end\n  end\nend\n",
    "app/models/boat.rb": "class Boat < ApplicationRecord\nend\n",
}
ALEMBIC = {
    "app/models.py": "from sqlmodel import Field, SQLModel\n\n\nclass BoatBase(SQLModel):\n    name: str\n\n\n"
    "class BoatCreate(BoatBase):\n    pass\n\n\nclass Boat(BoatBase, table=True):\n"
    "    id: int = Field(primary_key=True)\n    length: int\n\n\nclass Mooring(SQLModel, table=True):\n"
    "    id: int = Field(primary_key=True)\n    pier: str\n",
    "alembic/versions/9f_boats.py": 'def upgrade():\n    op.create_table("boat", sa.Column("id"))\n',
    "alembic/versions/1a_length.py": 'def upgrade():\n    op.add_column("boat", sa.Column("length"))\n',
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("harbour"), JAVA, "harbour") as index:
        yield index


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("garden"), KOTLIN, "garden") as index:
        yield index


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("library"), LARAVEL, "library") as index:
        yield index


def test_entities_of_jpa_are_listed_and_what_is_called_so_alone_is_none(harbour: Index) -> None:
    told = harbour.ask("which entities are there?").text
    assert told.startswith("**3 entities:**") and "EntityView" not in told


def test_the_table_of_an_entity_is_the_named_one_the_declared_one_or_that_of_its_name(harbour: Index) -> None:
    told = harbour.ask("which tables are there?").text
    assert "- **port.ships** in src/main/java/org/harbour/Ship.java:5" in told
    assert "- **cargo_item** in src/main/resources/schema.sql:1" in told
    assert "- **Crew** in src/main/java/org/harbour/Crew.java:4" in told


def test_where_an_entity_is_stored(harbour: Index) -> None:
    told = harbour.ask("where are ships stored?").text
    assert "**Ship** maps to **port.ships** in src/main/java/org/harbour/Ship.java:5" in told


def test_an_attribute_on_several_lines_maps_too(garden: Index) -> None:
    told = garden.ask("which tables are there?").text
    assert "- **plantings** in app/data/Planting.kt:11" in told and "- **plants** in app/data/Plant.kt:6" in told


def test_queries_of_room_are_sql(garden: Index) -> None:
    assert "**PlantDao.getPlants** probably reads from **plants**" in garden.ask("who reads the plants table?").text


def test_entities_of_typescript_map_to_their_table(garden: Index) -> None:
    assert "**UserEntity** maps to **users** in web/src/user.entity.ts" in garden.ask("where are users stored?").text


def test_what_derives_from_the_model_of_laravel_is_a_model_and_a_factory_is_none(library: Index) -> None:
    told = library.ask("which models are there?").text
    assert "**Book** in app/Models/Book.php:7" in told and "**Reader**" in told and "Factory" not in told


def test_tables_that_code_creates_are_listed_where_it_does(library: Index) -> None:
    told = library.ask("which tables are there?").text
    assert "- **books** in database/migrations/2020_01_01_000000_create_books.php:7" in told
    assert "- **loans** in database/migrations/2022_01_01_000000_create_loans.php:7" in told
    assert "shelves" not in told


def test_the_columns_of_a_table_that_code_creates_are_shown_with_what_changes_it(library: Index) -> None:
    told = library.ask("which columns does the books table have?").text
    assert "$table->string('isbn')" in told and "$table->integer('page_count')" in told
    assert "dropColumn" not in told


def test_where_something_is_stored_that_a_model_of_the_same_name_keeps(library: Index) -> None:
    assert "**Stored in:**\n- **Book** in app/Models/Book.php:7" in library.ask("where are books stored?").text


def test_api_endpoints_are_all_endpoints(library: Index) -> None:
    told = library.ask("which api endpoints are there?").text
    assert told.startswith("**3 endpoints:**") and "**POST /books** in routes/api.php:4" in told


def test_the_schema_of_rails_tells_the_columns_before_what_changed_it(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with opened_index(tmp_path_factory.mktemp("rails"), RAILS, "marina") as index:
        told = index.ask("what columns does the boats table have?").text
        assert 't.integer "length"' in told and "db/migrate" not in told
        assert "**2 created tables:**" in index.ask("which tables are there?").text


def test_a_model_of_python_tells_the_columns_before_scripts_whose_names_have_no_order(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with opened_index(tmp_path_factory.mktemp("alembic"), ALEMBIC, "marina") as index:
        told = index.ask("what columns does boat have?").text
        assert "length: int" in told and "add_column" not in told.partition("length: int")[0]
        models = index.ask("which entities are there?").text
        assert models.startswith("**2 database models:**") and "**Boat**" in models and "**Mooring**" in models


@pytest.mark.parametrize(
    "question",
    [
        "which classes are annotated with @Entity?",
        "which types have the Entity annotation?",
        "list all types marked with Entity",
    ],
)
def test_what_has_an_annotation_is_listed(harbour: Index, question: str) -> None:
    told = harbour.ask(question).text
    assert told.startswith("**3 declarations:**") and "**CargoItem**" in told and "EntityView" not in told


def test_migrations_of_fluent_migrator_tell_tables_and_columns(tmp_path: Path) -> None:
    with opened_index(tmp_path, {**FLUENT, "README.md": "# Depot\n"}, "depot") as index:
        told = index.ask("which tables are there?").text
        assert "**1 created table:**" in told and "- **Crates** in src/Migrations/005_Doors.cs:10" in told
    files = {path: text for path, text in FLUENT.items() if "005" not in path}
    with opened_index(tmp_path / "before", files, "depot") as index:
        told = index.ask("which tables are there?").text
        assert "- **Pallets** in src/Migrations/001_Initial.cs:10" in told and "Trucks" not in told
        told = index.ask("which columns does the pallets table have?").text
        assert '.WithColumn("Bay")' in told and 'AddColumn("Weight")' in told
