"""Well-known technologies by what they are used for, and the packages, images and lines of code that show them. Pure.

A package is of a technology if its name has one of the names here, in a row: `Foundatio.Redis` is of Redis, and
`@nestjs/core` of NestJS. What no line here names is of no technology: nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from rag_assets.identifiers import word_set

_PARTS = re.compile(r"[^a-z0-9#+]+")

TECHNOLOGIES: Mapping[str, str] = {
    "Authentication": "auth0, devise, duende identityserver4, jwt golang-jwt jjwt jsonwebtoken jwtbearer pyjwt"
    ", keycloak, omniauth, openid-connect go-oidc oidc-client oidc-client-ts openiddict openidconnect, passport"
    ", spring-security starter-security, webauthn fido2 simplewebauthn",
    "Background jobs": "apscheduler, bull bullmq, celery, hangfire, node-cron node-schedule, quartz, resque"
    ", oban, robfig/cron, rq, sidekiq, workmanager androidx.work",
    "Cache": "easycaching, fusioncache, memcached gomemcache pylibmc pymemcache dalli, memory-cache caching.memory"
    ", redis go-redis ioredis jedis lettuce redigo stackexchangeredis predis",
    "Containers": "docker dockerfile containerfile docker-compose compose.yaml compose.yml, helm chart.yaml"
    ", kubernetes k8s kubernetesclient kustomization, terraform tf",
    "Continuous integration": "appveyor, azure-pipelines, circleci, github-actions github/workflows, gitlab-ci"
    ", jenkins jenkinsfile, travis travis-ci",
    "CSS framework": "bootstrap, bulma, foundation-sites, sass, styled-components, tailwind tailwindcss",
    "Database": "cassandra gocql, cosmos cosmos-db, dynamodb dynamodbv2, elasticsearch opensearch, eventstore"
    " eventstoredb, h2 com.h2database, litedb, mariadb, mongodb mongo mongoengine mongoose motor pymongo mongoid"
    ", mysql mysql2 mysqlclient mysqlconnector pymysql, neo4j, oracle oracledb ojdbc8, postgresql adapter-pg asyncpg"
    " lib/pq npgsql pg pgx postgres psycopg psycopg2 tokio-postgres, ravendb, redis go-redis ioredis jedis lettuce"
    " redigo stackexchangeredis predis, sql-server mssql pyodbc sqlclient sqlserver tedious, sqlite aiosqlite sqlite3"
    " rusqlite",
    "Dependency injection": "autofac, dagger, dependency-injector, fx go.uber.org/fx, guice com.google.inject"
    ", get-it, inversify, koin, lamar, microsoft.extensions.dependencyinjection, ninject, php-di, pimple"
    ", scrutor, simpleinjector"
    ", tsyringe, wire google/wire",
    "Frontend framework": "angular, blazor components.webassembly, jquery, lit, next.js next, nuxt, preact, react"
    ", solid-js, svelte, vue",
    "HTTP client": "aiohttp, axios, clj-http, dio, faraday, got, guzzle guzzlehttp, httparty, httpx, ktor-client"
    ", okhttp okhttp3, openfeign, pycurl, refit, requests, reqwest, restsharp, retrofit retrofit2, saloon saloonphp"
    ", undici, ureq",
    "Linter": "black, checkstyle, eslint, flake8, golangci-lint golangci, php-codesniffer squizlabs, php-cs-fixer"
    ", phpstan, prettier, psalm, pylint, rubocop, ruff, stylecop",
    "Logging": "env-logger, log psr/log, log4j, log4net, logback, logrus, loguru, microsoft.extensions.logging, monolog"
    ", nlog, pino, serilog, slf4j, spdlog, structlog, tracing-subscriber, winston, zap go.uber.org/zap, zerolog",
    "Login provider": "apple-login security.oauth.apple passport-apple, facebook-login authentication.facebook"
    " omniauth-facebook passport-facebook, github-login security.oauth.github omniauth-github passport-github"
    " passport-github2, google-login authentication.google omniauth-google-oauth2 passport-google-oauth20"
    ", linkedin-login security.oauth.linkedin passport-linkedin-oauth2, microsoft-login"
    " authentication.microsoftaccount passport-microsoft, openid-connect-login authentication.openidconnect"
    " omniauth-openid-connect passport-openidconnect, saml-login itfoxtec.identity.saml2 sustainsys.saml2"
    " omniauth-saml passport-saml python3-saml, twitter-login authentication.twitter passport-twitter"
    ", ws-federation-login authentication.wsfederation",
    "Mapping": "automapper, mapperly, mapster, mapstruct, modelmapper",
    "Message broker": "activemq, azure-service-bus servicebus, kafka confluent-kafka kafkajs sarama, masstransit"
    ", mqtt mqttnet paho, nats, nservicebus, rabbitmq amqp amqplib amqp091-go bus-amqp pika spring-rabbit, rebus, sqs"
    ", wolverine wolverinefx",
    "Migrations": "alembic, dbup, fluentmigrator, flyway, golang-migrate, goose pressly/goose, liquibase",
    "Mocking": "fakeiteasy, gomock, mockall, mockery, mockito, mockk, mocktail, moq, nock, nsubstitute"
    ", prophecy phpspec/prophecy"
    ", proxyquire, pytest-mock, responses, sinon",
    "MVVM framework": "caliburn.micro, communitytoolkit.mvvm, freshmvvm, mvvmcross, mvvmlight mvvmlightlibs, prism"
    ", reactiveui, stylet",
    "ORM": "activerecord, dapper, diesel, django, doctrine/orm doctrine/dbal, drizzle drizzle-orm, ent entgo.io"
    ", entity-framework efcore ef-core entityframework entityframeworkcore, gorm gorm.io, hibernate, jpa data-jpa"
    ", knex, marten, mongoose, mybatis, next.jdbc, nhibernate, peewee, prisma, room androidx.room, sequelize"
    ", sqlalchemy, sqlc, sqlmodel, sqlx"
    ", typeorm",
    "Protocols": "graphql ariadne gqlgen graphene hotchocolate, grpc grpcio, mediatr, signalr, socket.io, swagger"
    " nswag openapi springdoc springfox swag swashbuckle, websocket websockets ws",
    "Search engine": "algolia algoliasearch, elasticsearch opensearch, lucene, meilisearch, solr solrj",
    "Serialization": "gson, jackson, json-serializable, kotlinx-serialization, messagepack msgpack, moshi"
    ", newtonsoft.json, protobuf protobuf-net, serde"
    ", system.text.json, upickle",
    "State management": "bloc flutter-bloc, mobx, ngrx, pinia, provider, redux reduxjs, riverpod flutter-riverpod"
    ", tanstack react-query, vuex, zustand",
    "Telemetry": "application-insights applicationinsights, grafana, jaeger, micrometer, opentelemetry, prometheus"
    " prom-client, sentry, sleuth, statsd, zipkin",
    "Template engine": "askama, ejs, haml, handlebars, jinja jinja2, liquid dotliquid scriban, mustache, pug, smarty"
    ", tera, thymeleaf, twig",
    "Test framework": "ava, behat, borp, catch2, cucumber, cypress, expecto, ginkgo, googletest gtest, jasmine, jest"
    ", junit starter-test, karma, kotest, minitest, mocha, mstest, munit, nunit, pestphp, phpunit, playwright, pytest"
    ", rspec, rstest, scalatest, selenium, spock, tap, test-unit, testify, testng, tunit, utest, vitest, xunit",
    "Validation": "ajv, class-validator, fluentvalidation, go-playground/validator, hibernate-validator"
    " starter-validation, joi, minivalidation, pydantic, yup, zod",
    "Vector database": "chroma chromadb, faiss, milvus pymilvus, pgvector, pinecone, qdrant, weaviate",
    "Web framework": "actix-web, asp.net-core microsoft.aspnetcore.app microsoft.aspnetcore.openapi, axum, chi"
    " go-chi/chi, django, echo labstack/echo, express, fastapi, fastify, fiber gofiber, flask, gin gin-gonic/gin"
    ", compojure, giraffe, gorilla/mux, hapi, koa, ktor ktor-server, laravel/framework laravel/lumen-framework"
    ", micronaut, nestjs"
    ", next.js next, quarkus, rails actionpack"
    ", phoenix, reitit, rocket, shelf, sinatra, slim/slim"
    ", spring spring-boot spring-core spring-mvc spring-webmvc starter-web"
    " starter-webflux, starlette, sveltekit sveltejs/kit, symfony/framework-bundle symfony/http-kernel, tornado, warp",
}
"""Category → technologies, each with the names that packages, images and files of it have; the first is its own. Names
are those of .NET, npm, PyPI, Go, Maven, Cargo, RubyGems and Composer, and of container images."""

CODE: Mapping[str, Mapping[str, str]] = {
    "Database": {"sql-server": "UseSqlServer(", "sqlite": "import sqlite3"},
    "Dependency injection": {"microsoft.extensions.dependencyinjection": "AddScoped", "spring": "@Autowired"},
    "Login provider": {
        "apple-login": "AddApple(",
        "facebook-login": "AddFacebook(",
        "github-login": "AddGitHub(",
        "google-login": "AddGoogle(",
        "microsoft-login": "AddMicrosoftAccount(",
        "openid-connect-login": "AddOpenIdConnect(",
        "twitter-login": "AddTwitter(",
        "ws-federation-login": "AddWsFederation(",
    },
    "Logging": {"log/slog": '"log/slog"', "logging": "import logging", "microsoft.extensions.logging": "ILogger<"},
    "Test framework": {
        "bats": '@test "',
        "cargo test": "#[test]",
        "clojure.test": "clojure.test",
        "ex-unit": "use ExUnit.Case",
        "flutter_test": "testWidgets(",
        "node:test": "node:test",
        "plenary.busted": "plenary.busted",
        "testing": '"testing"',
        "unittest": "import unittest",
    },
    "Web framework": {"asp.net-core": "Microsoft.NET.Sdk.Web", "net/http": '"net/http"', "node:http": "node:http"},
}
"""What comes with a language or a platform, and is no package: category → technology → text of the code that uses it.
It counts where no package does."""

_SHORT = 4
"""Letters of a name that says something at the beginning alone: `auth-next` is not of Next.js."""
_COMMON = word_set(
    "black motor liquid echo wire passport responses requests goose chi got tap quartz spring zap",
    "log next rocket warp tera diesel faraday devise cucumber giraffe smarty phoenix shelf provider room bloc dio koin",
)
"""Technologies that are called as many things are: only a whole name is of one, or what follows the group of Maven."""
WHOLE, BEGINNING, INSIDE = 3, 2, 1
"""How well a name fits."""


def technologies_of(category: str) -> Iterator[tuple[str, ...]]:
    """The names of each technology, its own first."""
    yield from (tuple(one.split()) for one in TECHNOLOGIES[category].split(", "))


_SERVERS = frozenset(
    {"Cache", "Containers", "Database", "Message broker", "Search engine", "Telemetry", "Vector database"}
)
"""Categories of what runs by itself: whatever connects to it uses it."""


def is_server(name: str) -> bool:
    """Whether a name is that of something that runs by itself."""
    called = _called(parts_of(name))
    return called is not None and called[0] in _SERVERS


def is_of_another(name: str, names: Sequence[str]) -> bool:
    """Whether a package of .NET is of another technology, whose name it begins with, and only works with that of some
    names: `MassTransit.EntityFrameworkCore`. A driver for an ORM (`Npgsql.EntityFrameworkCore`) is of both."""
    begins, dot, _ = name.partition(".")
    if not dot or not begins.isalnum() or any(tuple(names) in technologies_of(server) for server in _SERVERS):
        return False
    other = _called(parts_of(begins))
    return other is not None and other[1][0] != names[0] and other[0] != "Database"


@lru_cache(maxsize=4_096)  # a question names what it likes
def parts_of(name: str) -> tuple[str, ...]:
    """`Foundatio.Redis` as (`foundatio`, `redis`), in lower case."""
    return all_parts(name)


def all_parts(text: str) -> tuple[str, ...]:
    """Those of a text of any length, which is not kept."""
    return tuple(filter(None, _PARTS.split(text.casefold())))


def fit(name: str, names: Sequence[str]) -> int:
    """How well the name of a package, an image or a file is one of some names; 0: not at all."""
    return max(_fit(name, parts_of(one)) for one in names)


def _fit(name: str, wanted: tuple[str, ...]) -> int:
    said = parts_of(name)
    if said == wanted:
        return WHOLE
    if said[:1] == ("is",):  # `is-docker` only asks whether it runs there
        return 0
    if len(wanted) == 1 and wanted[0] in _COMMON:
        return INSIDE if name.casefold().endswith(f":{wanted[0]}") else 0
    at = next((at for at in range(len(said)) if said[at : at + len(wanted)] == wanted), None)
    if not at:
        return 0 if at is None else BEGINNING
    is_word = len(wanted) == 1 and len(wanted[0]) <= _SHORT and not name.endswith((f"/{wanted[0]}", f":{wanted[0]}"))
    return 0 if is_word else INSIDE


_MOST_WORDS = 6  # of a name


def technologies_called(words: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """(category, names) of the technologies that some words name, the longest name first, be it with `or` between them;
    nothing if a word is of no such name."""
    found, at = list[tuple[str, tuple[str, ...]]](), 0
    while at < len(words):
        ends = range(min(len(words), at + _MOST_WORDS), at, -1)
        named = next(((one, end) for end in ends if (one := _called(parts_of(" ".join(words[at:end]))))), None)
        if named is None and words[at] not in ("and", "or", "vs", "versus"):
            return []
        found += [named[0]] if named is not None else []
        at = named[1] if named is not None else at + 1
    return found


def _called(said: tuple[str, ...]) -> tuple[str, tuple[str, ...]] | None:
    return _by_name().get(said)


@cache
def _by_name() -> Mapping[tuple[str, ...], tuple[str, tuple[str, ...]]]:
    of_all = [(category, names) for category in TECHNOLOGIES for names in technologies_of(category)]
    return {
        parts_of(name): one for one in reversed(of_all) for name in one[1] if parts_of(name)
    }  # the first one counts
