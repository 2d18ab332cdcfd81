"""What applications of Rails, Django and Express have is told: models, callbacks, emails, signals, policies, guards."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag_assets import Index
from rag_assets.answer.model_lines import choices_at
from rag_assets.answer.passages import only_exports, passages_of
from rag_assets.answer.plans.marked import Marked, marked_asked
from rag_assets_tests.answer.pieces import piece
from rag_assets_tests.cli.conftest import opened_index

RAILS = {
    "app/models/application_record.rb": (
        "class ApplicationRecord < ActiveRecord::Base\n  self.abstract_class = true\nend\n"
    ),
    "app/models/keeper.rb": (
        "class Keeper < ApplicationRecord\n  before_save :tidy_name\n  after_create :greet\n\n"
        "  def tidy_name\n    self.name = name.strip\n  end\nend\n"
    ),
    "app/models/fog_report.rb": (
        "class FogReport < ApplicationRecord\n  enum :fog_status, {thin: 0, thick: 1}\n\n"
        "  validates :depth, presence: true\n  validate :depth_is_possible\nend\n"
    ),
    "db/migrate/20200101_create_keepers.rb": (
        "class CreateKeepers < ActiveRecord::Migration[6.0]\n  def change\n    create_table :keepers\n  end\nend\n"
    ),
    "db/migrate/20200102_add_height_to_lamps.rb": (
        "class AddHeightToLamps < ActiveRecord::Migration[6.0]\n  def change\n"
        "    add_column :lamps, :height, :integer\n  end\nend\n"
    ),
    "app/models/keeper_badge.rb": "class KeeperBadge < ApplicationRecord\n  before_save :polish\nend\n",
    "app/models/night_keeper.rb": "class NightKeeper < Keeper\nend\n",
    "app/policies/application_policy.rb": (
        "class ApplicationPolicy\n  def destroy?\n    is_chief?\n  end\n\n  def create?\n    false\n  end\n\n"
        "  def is_chief?\n    user.chief?\n  end\nend\n"
    ),
    "app/policies/shore_lamp_policy.rb": (
        "class ShoreLampPolicy < ApplicationPolicy\n  def update?\n    is_owner?\n  end\n\n"
        "  alias_method :edit?, :update?\n\n  private\n\n  def is_owner?\n    record.keeper == user\n  end\nend\n"
    ),
    "app/mailers/keeper_mailer.rb": (
        "class KeeperMailer < ApplicationMailer\n  def welcome(keeper)\n    mail(to: keeper.email, subject: 'Hello')\n"
        "  end\n\n  def fog_warning(keeper)\n    @keeper = keeper\n    mail(\n      to: keeper.email,\n"
        "      subject: 'Fog'\n    )\n  end\nend\n"
    ),
    "app/mailers/harbour_mailer.rb": (
        "class HarbourMailer < ApplicationMailer\n  def closed(port)\n    mail(to: port.email, subject: 'Closed')\n"
        "  end\nend\n"
    ),
}
EXPRESS = {
    "package.json": '{"dependencies": {"express": "4", "mongoose": "5"}}\n',
    "src/app.js": (
        "const express = require('express');\nconst lamps = require('./lamps.route');\nconst app = express();\n"
        "app.use(helmet());\napp.use(express.json());\napp.use('/lamps', lamps);\napp.use(errorHandler);\n"
        "module.exports = app;\n"
    ),
    "src/lamps.route.js": (
        "const router = require('express').Router();\n"
        "router.get('/', lampController.list);\n"
        "router.post('/authorize', lampController.authorize);\n"
        "router\n  .route('/:lampId')\n  .get(lampController.show)\n"
        "  .delete(auth('keepers'), lampController.remove);\n"
        "router.post(\n  '/:lampId/light',\n  auth.required,\n  async function (req, res) {\n    res.send();\n  }\n);\n"
        "module.exports = router;\n"
    ),
    "server/src/config/routes.ts": (
        "import { createBuoyRoutes } from '@/api/buoyRoutes.js';\n"
        "export const setupRoutes = (app: Application, controllers: Controllers) => {\n"
        "  const buoyRoutes = createBuoyRoutes(controllers.buoys);\n"
        "  app.use('/api/v1/buoys', authLimiter, verifyToken, buoyRoutes);\n};\n"
    ),
    "server/src/api/buoyRoutes.ts": (
        "export const createBuoyRoutes = (buoys: BuoyController): Router => {\n  const router = Router();\n"
        "  router.get('/', buoys.list);\n"
        "  router.delete('/', isAllowed(['harbourmaster']), buoys.removeAll);\n  return router;\n};\n"
    ),
    "server/src/verifyToken.ts": (
        "// authentication\nexport const verifyToken = (req, res, next) => {\n"
        "  jwt.verify(token, secret, (err, user) => next(err));\n};\n"
    ),
    "server/src/app.ts": (
        "export const createApp = (app: Application) => {\n  app.use(\n    compression({ level: 6 })\n  );\n};\n"
    ),
    "server/src/env.ts": (
        "const schema = z.object({\n  BUOY_PORT: z.string().default('80'),\n  BUOY_COLOUR: z.string(),\n"
        "  BUOY_LIT: asFlag.default(true),\n});\nexport const env = schema.parse(process.env);\n"
    ),
    "server/.env.example": "BUOY_PORT=80\n# BUOY_LOG=debug\n",
    "client/src/api.ts": (
        "export const api = axios.create({\n  baseURL: '/api/v1',\n});\nexport const load = () => api.get('/buoys');\n"
    ),
    "src/harbour.js": (
        "module.exports = (sequelize) =>\n  sequelize.define(\n    'Harbour',\n    {\n"
        "      depth: {\n        type: DataTypes.INTEGER,\n      },\n    }\n  );\n"
    ),
    "src/lamp.validation.js": (
        "const createLamp = {\n  body: Joi.object().keys({\n    bulb: Joi.string().required(),\n  }),\n};\n"
    ),
    "src/mast.validation.js": (
        "const updateMast = {\n  body: Joi.object().keys({\n    sail: Joi.string().required(),\n  }),\n};\n"
    ),
    "src/roles.js": (
        "const allRoles = {\n  beacon: [],\n  leading: ['enter'],\n};\nconst roles = Object.keys(allRoles);\n"
        "module.exports = {\n  roles,\n};\n"
    ),
    "gulpfile.js": 'gulp.task("test", test);\n',
    "README.md": "# Lamps\n\nA harbour has lamps.\n\n## Docker\n\n    yarn docker:dev\n",
    "src/lamp.model.js": (
        "const lampSchema = mongoose.Schema({\n  height: {\n    type: Number,\n  },\n"
        "  colour: {\n    type: String,\n    enum: ['red', 'white'],\n  },\n"
        "  role: {\n    type: String,\n    enum: roles,\n  },\n});\n"
        "lampSchema.pre('save', async function (next) {\n  next();\n});\n"
        "module.exports = mongoose.model('Lamp', lampSchema);\n"
    ),
}
DJANGO = {
    "lights/settings.py": (
        'MIDDLEWARE = [\n    "lights.middleware.Harbour",\n    "django.middleware.common.CommonMiddleware",\n]\n'
    ),
    "lights/models.py": (
        "class Lamp(models.Model):\n    height = models.IntegerField()\n    glass = models.CharField(\n"
        '        choices=[\n            ("clear", "Clear"),\n            ("milky", "Milky"),\n        ],\n    )\n\n\n'
        "@receiver(post_save, sender=Lamp)\ndef light_it(sender, instance, **kwargs):\n    instance.light()\n"
    ),
    "lights/urls.py": (
        'urlpatterns = [\n    path("lamps/all", lamps_all),\n    path("lamps/mine", lamps_mine),\n'
        '    path("lamps/count", LampCount.as_view()),\n]\n'
    ),
    "lights/views.py": (
        "@api_view([GET])\n@permission_classes([IsAuthenticated])\ndef lamps_mine(request):\n"
        "    return mine(request)\n\n\n"
        "@api_view([GET])\n@permission_classes([])\ndef lamps_all(request):\n    return every(request)\n\n\n"
        "class LampCount(APIView):\n    permission_classes = [IsAdminUser]\n"
    ),
    "pier/routes.go": (
        'package pier\n\nfunc Routes(e *echo.Echo, a *App) {\n\tg := e.Group("", a.auth.Middleware)\n'
        '\tg.GET("/ropes", a.Ropes)\n\tg.DELETE("/ropes", perm(a.Cut, "ropes:cut"))\n\tp := e.Group("")\n'
        '\tp.GET("/tides", a.Tides)\n}\n\nfunc Tie(r *Rope) error {\n\tif r == nil {\n\t\treturn ErrNoRope\n\t}\n'
        "\treturn nil\n}\n\nfunc Find(name string) *Rope {\n\treturn nil\n}\n"
    ),
    "pier/cmd/main.go": "package main\n\nfunc main() {\n\tpier.Open()\n}\n",
    "web/README.md": "# The pages of the frontend\n\nThey show lamps.\n",
    "web/src/App.jsx": (
        'const App = () => (\n  <Routes>\n    <Route\n      path="/masts"\n      element={<Masts />}\n    />\n'
        "  </Routes>\n);\nexport default App;\n"
    ),
    "web/src/parts/LampCard.jsx": "export const LampCard = () => <p>Lamp</p>;\n",
    "lights/errors.py": "class FogError(Exception):\n    pass\n\n\nclass TideError(Exception):\n    pass\n",
    "tests/lamp_calls.py": (
        "class LampCallError(Exception):\n    pass\n\n\nclass LampCallTwiceError(Exception):\n    pass\n"
    ),
    "lights/apps.py": (
        "class LightsConfig(AppConfig):\n    def ready(self):\n        post_migrate.connect(make_groups, sender=self)\n"
    ),
}


@pytest.fixture(scope="module")
def rails(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("rails"), RAILS, "keepers") as index:
        yield index


@pytest.fixture(scope="module")
def express(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("express"), EXPRESS, "lamps") as index:
        yield index


@pytest.fixture(scope="module")
def django(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened_index(tmp_path_factory.mktemp("django"), DJANGO, "lights") as index:
        yield index


@pytest.mark.parametrize(
    ("question", "expected", "others"),
    [
        ("which models are there?", ["Keeper", "KeeperBadge", "NightKeeper"], ["ApplicationRecord in"]),
        ("which migrations are there?", ["2 migrations", "20200101_create_keepers", "add_height"], ["keeper.rb"]),
        ("what are the statuses of a fog report?", ["{thin: 0, thick: 1}"], ["Not sure"]),
        ("what is validated on a fog report?", ["2 rules", "presence: true", "depth_is_possible"], ["before_save"]),
        ("what callbacks run when a keeper is saved?", ["before_save :tidy_name", "after_create :greet"], ["polish"]),
        ("which emails are sent?", ["3 emails", "welcome", "fog_warning", "closed"], ["subject: 'Fog' ["]),
        ("which emails are sent to keepers?", ["2 emails", "welcome", "fog_warning"], ["closed"]),
        ("who may delete a shore lamp?", ["def destroy?", "user.chief?"], ["is_owner"]),
        ("who is allowed to edit a lamp?", ["alias_method :edit?", "def update?"], ["def destroy?"]),
    ],
)
def test_what_a_rails_application_has_is_told(
    rails: Index, question: str, expected: list[str], others: list[str]
) -> None:
    told = rails.ask(question).text
    assert not [one for one in expected if one not in told], told
    assert not [one for one in others if one in told], told


@pytest.mark.parametrize(
    "question",
    [
        "what callbacks run when a ship is saved?",
        "what callbacks run when a keeper is deleted?",
        "which emails are sent to admirals?",
        "which emails are sent when it is closed?",
        "who may delete a ship?",
        "which models have a keeper?",
        "which models does a keeper belong to?",
    ],
)
def test_of_a_subject_that_has_none_nothing_is_listed(rails: Index, question: str) -> None:
    told = rails.ask(question).text
    assert not [
        one for one in ("callback:", "callbacks:", "email:", "emails:", "models:", "def destroy?") if one in told
    ], told


def test_rules_for_changing_a_thing_are_not_those_for_creating_it(express: Index) -> None:
    assert "updateMast.sail" in express.ask("which validation rules are there for a mast?").text
    assert "updateMast.sail" not in express.ask("which validation rules are there for a new mast?").text


def test_middlewares_are_listed_in_the_order_in_which_they_run(express: Index) -> None:
    told = express.ask("what middleware runs for every request, and in which order?").text
    places = [told.index(one) for one in ("helmet", "express.json", "app.use('/lamps'", "errorHandler")]
    assert places == sorted(places), told


def test_what_lets_not_all_come_to_a_handler_of_express_guards_its_endpoint(express: Index) -> None:
    guarded = express.ask("which endpoints need authentication?").text
    assert "DELETE /lamps/{lampId}" in guarded and "POST /lamps/{lampId}/light" in guarded
    assert "GET /lamps" not in guarded and "/lamps/authorize" not in guarded
    unguarded = express.ask("which endpoints need no login?").text
    assert "GET /lamps/{lampId}" in unguarded and "POST /lamps/authorize" in unguarded
    assert "DELETE /lamps/{lampId}" not in unguarded


def test_hooks_of_a_schema_are_callbacks(express: Index) -> None:
    assert "lampSchema.pre('save'" in express.ask("which hooks run when a lamp is saved?").text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which models are there?", ["2 database models", "Harbour", "Lamp"]),
        ("which fields does the lamp model have?", ["height", "colour"]),
        ("what columns does the Harbour table have?", ["depth"]),
        ("which colours can a lamp have?", ["enum: ['red', 'white']"]),
        ("which roles can a lamp have?", ["2 roles", "beacon", "leading"]),
        ("what does the roles module export?", ["module.exports = {"]),
        ("what are the rules for a bulb?", ["1 rule", "createLamp.bulb"]),
        ("how do I run the tests?", ['gulp.task("test", test)']),
        ("how do I run it in docker?", ["yarn docker:dev"]),
        (
            "which endpoints deal with buoys?",
            ["2 endpoints", "**GET /api/v1/buoys** in server/src/api/buoyRoutes.ts:3", "**DELETE /api/v1/buoys**"],
        ),
        ("which role do I need to delete all buoys?", ["isAllowed(['harbourmaster'])"]),
        ("who can list the buoys?", ["**GET /api/v1/buoys** in server/src/config/routes.ts:4", "verifyToken"]),
        (
            "which environment variables can be set?",
            ["4 environment variables", "BUOY_PORT** in server/src/env.ts:2", "BUOY_COLOUR", "BUOY_LIT", "BUOY_LOG"],
        ),
        ("how does the client talk to the back end?", ["axios.create({", "client/src/api.ts:1"]),
        ("how does authentication work?", ["jwt.verify(token, secret", "server/src/verifyToken.ts"]),
        ("which middlewares are used?", ["**compression** in server/src/app.ts:2"]),
    ],
)
def test_what_a_node_application_has_is_told(express: Index, question: str, expected: list[str]) -> None:
    told = express.ask(question).text
    assert not [one for one in expected if one not in told] and "Not sure" not in told, told


def test_a_middleware_of_django_need_not_be_called_so(django: Index) -> None:
    assert "lights.middleware.Harbour" in django.ask("which middleware is installed?").text


def test_choices_are_those_that_a_field_writes_out(rails: Index, express: Index, django: Index) -> None:
    assert [one.line for one in choices_at(rails, "what are the statuses of a fog report?")] == [2]
    assert choices_at(rails, "what are the statuses of a tide report?") == []
    assert [one.path for one in choices_at(express, "which colours can be chosen for a lamp?")] == ["src/lamp.model.js"]
    assert choices_at(express, "which roles can a lamp have?") == []
    assert [one.path for one in choices_at(django, "which lamp glasses can be chosen?")] == ["lights/models.py"]


def test_choices_of_a_field_of_django_are_its_values(django: Index) -> None:
    assert '("milky", "Milky")' in django.ask("which lamp glasses can be chosen?").text


def test_errors_of_tests_are_not_those_of_the_product(django: Index) -> None:
    assert "LampCallError** in" not in django.ask("which errors can a lamp call produce?").text
    assert "LampCallError** in" in django.ask("which errors are there in the tests?").text


def test_receivers_and_connected_functions_handle_signals(django: Index) -> None:
    told = django.ask("which signals are handled?").text
    assert "light_it" in told and "post_migrate.connect(make_groups" in told
    assert "signal handler" not in django.ask("which signals does the harbour subscribe to?").text


@pytest.mark.parametrize(
    ("question", "marked"),
    [
        ("which callbacks does the order model have?", Marked.CALLBACKS),
        ("which before actions run in the application controller?", Marked.CALLBACKS),
        ("which hooks run before a commit?", None),
        ("which react hooks are there?", None),
        ("what callbacks does the click handler take?", Marked.CALLBACKS),
        ("which signals are sent?", None),
        ("which emails are stored?", None),
        ("what does the auth middleware do?", None),
    ],
)
def test_hooks_and_signals_of_other_sorts_are_no_such_lines(question: str, marked: Marked | None) -> None:
    assert marked_asked(question) is marked


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("module.exports = {\n  light,\n  darken,\n};", True),
        ("module.exports.light = require('./light');", True),
        ("export { light } from './light';", True),
        ('__all__ = [\n    "light",\n]', True),
        ("module.exports = {\n  height: 12,\n};", False),
        ("export default function light() {\n  return 1;\n}", False),
    ],
)
def test_names_that_a_module_exports_say_nothing_of_how(code: str, expected: bool) -> None:
    assert only_exports(passages_of(piece(code, path="src/light.js", language="javascript"))[0]) is expected


@pytest.mark.parametrize(
    ("question", "expected", "others"),
    [
        ("who may see my lamps?", ["/lamps/mine** in lights/views.py:2: `@permission_classes([IsAuthenticated])`"], []),
        (
            "which endpoints can be called without logging in?",
            ["Open to anybody", "/lamps/all** in lights/views.py:8", "No line says who may call", "GET /tides"],
            ["/lamps/mine", "/lamps/count", "/ropes"],
        ),
        ("which endpoints need a login?", ["/lamps/count", "**GET /ropes** in pier/routes.go:4"], ["GET /tides"]),
        ("which permission do I need to delete ropes?", ['perm(a.Cut, "ropes:cut")'], []),
        ("which functions return null?", ["1 returned null", "pier/routes.go:19"], []),
        ("which pages does the frontend have?", ["1 page route", "/masts"], ["README"]),
        ("which react components are there?", ["2 components", "LampCard** in web/src/parts/LampCard.jsx:1"], []),
        ("how is the application configured?", ["**Code:**", "**settings.py** in lights/settings.py:1"], ["errors.py"]),
        ("what happens on startup?", ["LightsConfig.ready", "pier/cmd/main.go:3"], []),
    ],
)
def test_what_a_python_or_go_application_has_is_told(
    django: Index, question: str, expected: list[str], others: list[str]
) -> None:
    told = django.ask(question).text
    assert not [one for one in expected if one not in told] and "Not sure" not in told, told
    assert not [one for one in others if one in told], told
