/** Builds the worlds of tests: a running server, people in every role, and a private project in a private group. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import pino from 'pino';
import type { TProperties, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { levels, newTokenValue, type Role, refreshAuthorizations, tokenDigest } from '../../src/access/index.ts';
import { passwordCost } from '../../src/access/passwords.ts';
import { buildApp } from '../../src/app.ts';
import { areaServices } from '../../src/areas/index.ts';
import { createToken } from '../../src/areas/people/personal_access_tokens/index.ts';
import { createUser } from '../../src/areas/people/users/index.ts';
import { createGroup } from '../../src/areas/spaces/groups/index.ts';
import { createProject } from '../../src/areas/spaces/projects/index.ts';
import { installFirstLicense } from '../../src/commands/first_license.ts';
import { readConfig } from '../../src/config.ts';
import type { Database } from '../../src/db/index.ts';
import { closeReaders } from '../../src/git/index.ts';
import type { AnyEndpoint, ApiError, Services } from '../../src/http/index.ts';
import { type HookEventKind, type JobServices, servicesFor } from '../../src/services/index.ts';
import { type Client, clientOf } from './client.ts';
import { addressesIn, checkAddresses, testUrl } from './dead_links.ts';
import { undeclaredIn } from './refusals.ts';

export type Persona = 'admin' | 'outsider' | Exclude<Role, 'minimal'>;
const members = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const;

export interface Person {
  id: number;
  username: string;
  token: string;
}

export interface World {
  /** A client with the token of a persona. */
  as(persona: Persona | 'anonymous'): Client;
  people: Record<Persona, Person>;
  project: { id: number; full_path: string; path: string };
  group: { id: number; full_path: string; path: string };
  /** The address of the server, without a trailing slash. */
  url: string;
  services: JobServices;
  db: Database;
  /** Another user without any memberships. */
  person(options?: { admin?: boolean }): Promise<Person & { client: Client }>;
}

export interface RunningServer {
  url: string;
  services: JobServices;
  stop(): Promise<void>;
}

// Tests that set passwords are about something else than how long it takes to guess one.
Object.assign(passwordCost, { N: 2, p: 1 });

let count = 0;

const checks = new Map<AnyEndpoint, ReturnType<typeof Compile>>();

/** A body with its bytes as Base64, as they are sent. */
function asSent(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const isBytes = (value: unknown) => Buffer.isBuffer(value);
  return Object.values(body).some(isBytes)
    ? Object.fromEntries(
        Object.entries(body).map(([name, value]) => [name, isBytes(value) ? value.toString('base64') : value]),
      )
    : body;
}

const watchers: ((body: unknown) => void)[] = [];

/** Shows a test all later replies of the API, of all worlds of its process. */
export const watchReplies = (watch: (body: unknown) => void): void => {
  watchers.push(watch);
};

/** Holds a reply against its schema: what the documentation promises is what is sent. */
function inspectReply(endpoint: AnyEndpoint, body: unknown): void {
  for (const watch of watchers) watch(body);
  checkAddresses(addressesIn(body), `The reply of ${endpoint.operation}`);
  let check = checks.get(endpoint);
  if (!check) {
    check = Compile(endpoint.returns.schema!);
    checks.set(endpoint, check);
  }
  const sent = asSent(body);
  hold(check, sent, `${endpoint.method} ${endpoint.path}`);
}

function hold(check: ReturnType<typeof Compile>, sent: unknown, sender: string): void {
  if (check.Check(sent)) return;
  const errors = [...check.Errors(sent)].slice(0, 5).map(({ instancePath, message }) => `${instancePath} ${message}`);
  assert.fail(`${sender} sends what its schema does not allow: ${errors.join('; ')}`);
}

/** A schema whose objects have no members besides the declared ones. */
function closed(schema: TSchema): TSchema {
  const { properties, items, anyOf } = schema as { properties?: TProperties; items?: TSchema; anyOf?: TSchema[] };
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, closed(member)])),
      additionalProperties: false,
    }),
    ...(items && { items: closed(items) }),
    ...(anyOf && { anyOf: anyOf.map(closed) }),
  };
}

/** Holds each body that hooks are told against its schema: it has all members that it declares, and no other. */
function inspectedEvent(event: HookEventKind): HookEventKind {
  let check: ReturnType<typeof Compile> | undefined;
  return {
    ...event,
    write: async (...call) => {
      const body = await event.write(...call);
      check ??= Compile(closed(event.body));
      hold(check, JSON.parse(JSON.stringify(body)), `The event ${event.name}`);
      return body;
    },
  };
}

/** Holds what a handler refuses against what its endpoint declares. */
function inspectRefusal(endpoint: AnyEndpoint, refusal: ApiError): void {
  const texts = undeclaredIn(endpoint, refusal).map((text) => `${refusal.status} ${text}`);
  if (texts.length > 0) assert.fail(`${endpoint.operation} refuses what it does not declare: ${texts.join('; ')}`);
}

/** Options of the server of this file; the first world decides. */
export interface WorldOptions {
  /** COPPICE_* variables. Without COPPICE_PORT the server takes any free port, and its external address is not the one it listens at. */
  environment?: Record<string, string>;
  /** Whether a refusal that its endpoint does not declare fails the request. Random requests meet too many combinations to declare. */
  inspectRefusals?: boolean;
}

/** Starts the server on a migrated database, with its data in a temporary folder. */
export async function startServer(
  db: Database,
  { environment = {}, inspectRefusals = true }: WorldOptions,
): Promise<RunningServer> {
  const data = await mkdtemp(path.join(tmpdir(), 'coppice-world-'));
  const config = readConfig({ COPPICE_DATA: data, COPPICE_URL: testUrl, ...environment });
  const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });
  const areas = { ...areaServices, hook_events: areaServices.hook_events.map(inspectedEvent) };
  const services = servicesFor(config, db, areas);
  await installFirstLicense(services, config);
  const app = await buildApp({ config, db, log, areas, inspectReply, ...(inspectRefusals ? { inspectRefusal } : {}) });
  await app.listen({ port: environment.COPPICE_PORT ? config.port : 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const stop = async () => {
    // What a test left open on purpose, such as a clone broken off, must not keep its file.
    app.server.closeAllConnections();
    await app.close();
    await closeReaders();
    await rm(data, { recursive: true, force: true });
  };
  return { url: `http://127.0.0.1:${port}`, services, stop };
}

/** @param tx a transaction */
async function addPerson(tx: Database, username: string, admin = false): Promise<Person> {
  const email = `${username}@example.com`;
  const id = await createUser(tx, { username, name: username.replaceAll('-', ' '), email, admin, confirmed: true });
  const scopes = admin ? ['api', 'sudo'] : ['api'];
  const { value } = await createToken(tx, { user_id: id, name: 'test', scopes, expires_at: null });
  return { id, username, token: value };
}

/** Adds all users of a world as `addPerson` would, but in one statement, because every test has eight people: populate.test.ts compares. */
async function addPeople(db: Database, suffix: number): Promise<Record<Persona, Person>> {
  const people = [...members, 'outsider', 'admin'].map((persona) => {
    const username = `${persona}-${suffix}`;
    const [token, admin] = [newTokenValue('glpat-'), persona === 'admin'];
    const scopes = admin ? ['api', 'sudo'] : ['api'];
    return {
      persona,
      username,
      name: username.replaceAll('-', ' '),
      admin,
      token,
      token_digest: tokenDigest(token),
      scopes,
    };
  });
  const given = JSON.stringify(
    people.map((person) => ({ ...person, token_digest: person.token_digest.toString('hex') })),
  );
  const { rows } = await sql<{ id: number; username: string }>`
    with given as (
      select * from jsonb_to_recordset(${given}::jsonb)
                 as given(username text, name text, admin boolean, token_digest text, scopes text[])
    ), made as (
      insert into users (username, name, email, admin, confirmed_at, external, private_profile, projects_limit, can_create_group)
      select username, name, username || '@example.com', admin, now(), user_default_external, user_defaults_to_private_profile,
             default_projects_limit, can_create_group
        from given, application_settings
      returning id, username, name, email
    ), addresses as (
      insert into emails (user_id, email, is_primary, confirmed_at) select id, email, true, now() from made
    ), numbered as materialized (
      select made.*, nextval(pg_get_serial_sequence('namespaces', 'id')) as namespace_id from made
    ), places as (
      insert into namespaces (id, kind, name, path, full_path, traversal_ids, owner_id, visibility) overriding system value
      select namespace_id, 'user', name, username, username, array[namespace_id], id, 'public' from numbered
    ), tokens as (
      insert into personal_access_tokens (user_id, name, scopes, token_digest)
      select id, 'test', scopes, decode(token_digest, 'hex') from made join given using (username)
    )
    select id, username from made`.execute(db);
  const ids = new Map(rows.map(({ id, username }) => [username, id]));
  const entries = people.map(({ persona, username, token }) => [persona, { id: ids.get(username)!, username, token }]);
  return Object.fromEntries(entries) as Record<Persona, Person>;
}

/** A group of the owner, with a project whose members hold the role that they are named after. */
async function addPlaces(services: Services, people: Record<Persona, Person>, suffix: number) {
  const { db } = services;
  const path = `group-${suffix}`;
  const group_id = await db.transaction().execute(async (tx) => {
    const id = await createGroup(tx, { name: path, path, creator_id: people.owner.id });
    const others = members.filter((role) => role !== 'owner');
    await tx
      .insertInto('members')
      .values(others.map((role) => ({ group_id: id, user_id: people[role].id, access_level: levels[role] })))
      .execute();
    return id;
  });
  const group = { id: group_id, full_path: path, path };
  const name = `project-${suffix}`;
  const project_id = await createProject(services, {
    name,
    path: name,
    namespace: group,
    creator_id: people.owner.id,
    default_branch: 'main',
  });
  await db.transaction().execute((tx) => refreshAuthorizations(tx, { group_id }));
  return { group, project: { id: project_id, full_path: `${path}/${name}`, path: name } };
}

/** Adds a world of its own to a server. */
export async function populate({ url, services }: RunningServer): Promise<World> {
  const suffix = ++count;
  const people = await addPeople(services.db, suffix);
  const places = await addPlaces(services, people, suffix);
  const root = `${url}/api/v4`;
  return {
    as: (persona) => clientOf(root, persona === 'anonymous' ? undefined : people[persona].token),
    people,
    ...places,
    url,
    services,
    db: services.db,
    async person({ admin = false } = {}) {
      const username = `person-${suffix}-${++count}`;
      const person = await services.db.transaction().execute((tx) => addPerson(tx, username, admin));
      return { ...person, client: clientOf(root, person.token) };
    },
  };
}
