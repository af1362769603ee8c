/** Queries for applications: authentication, and the flags for an environment (docs/decisions/0122-flags-are-kept-by-version.md). */
import { hash, timingSafeEqual } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { type Database, dataLoader, ofAnyLength, type Slots, statement } from '../../../db/index.ts';
import { answersOf } from '../../../foundation/caches.ts';
import { idIn } from '../../../http/index.ts';
import { digestOf } from './client_actions.ts';

/** A project whose flags applications can request. */
export interface FlagSource {
  project_id: number;
  /** Incremented by each change of the flags. */
  version: number;
  instance_digest: Buffer;
  /** Requests per minute; 0 means no limit. */
  most: number;
}

/** `question`, from 1, is the index of the request that a row answers. */
const sourcesAsked = statement(
  ({ ids, paths }: Slots<{ ids: (number | null)[]; paths: (string | null)[] }>) => sql<
    FlagSource & { question: number }
  >`
    select asked.question, projects.id as project_id, clients.version, clients.instance_digest,
           (select feature_flags_unleash_requests_limit from application_settings) as most
      from unnest(${ofAnyLength(ids, 'bigint[]')}, ${ofAnyLength(paths, 'citext[]')}) with ordinality asked(project_id, full_path, question),
           lateral (select id from projects where id = asked.project_id union all select id from projects where full_path = asked.full_path) named
           join projects on projects.id = named.id join feature_flag_clients clients on clients.project_id = projects.id
     where projects.feature_flags_access_level <> 'disabled' and projects.repository_access_level <> 'disabled'`,
);

const sourceNamed = dataLoader<string, FlagSource>(
  (name) => name,
  async (db, names) => {
    const ids = names.map((name) => idIn(name) ?? null);
    const rows = await sourcesAsked(db, {
      ids,
      paths: names.map((name, index) => (ids[index] === null && !name.includes('\0') ? name : null)),
    });
    return new Map(rows.map(({ question, ...source }) => [names[question - 1]!, source]));
  },
);

const nobody = digestOf('');

/**
 * The project of an application. Failures take the same time whatever their cause.
 * @param name an id or a full path
 * @returns undefined if the instance id is not that of the project
 */
export async function sourceFor(
  db: Database,
  name: string,
  instance_id: string | undefined,
): Promise<FlagSource | undefined> {
  const source = await sourceNamed(db, name);
  const isRight = timingSafeEqual(digestOf(instance_id ?? ''), source?.instance_digest ?? nobody);
  return isRight && instance_id ? source : undefined;
}

/** A predicate on rows of `feature_flag_scopes`: it matches the environment. Only `*` is special in patterns. */
const fits = (environment: string | undefined): RawBuilder<boolean> =>
  environment === undefined
    ? sql`scopes.environment_scope = '*'`
    : sql`${environment} like replace(regexp_replace(scopes.environment_scope, '([\\\\%_])', '\\\\\\1', 'g'), '*', '%')`;

interface Feature {
  name: string;
  description?: string;
  enabled: boolean;
  strategies: { name: string; parameters: Record<string, string> }[];
}

async function featuresFor(db: Database, { project_id, environment }: Question): Promise<Feature[]> {
  const { rows } = await sql<Feature & { description: string | null }>`
    select flags.name, flags.description, flags.active as enabled,
           json_agg(case when strategies.name = 'gitlabUserList'
                         then json_build_object('name', 'userWithId', 'parameters', json_build_object('userIds', coalesce(lists.user_xids, '')))
                         else json_build_object('name', strategies.name, 'parameters', strategies.parameters) end order by strategies.id) as strategies
      from feature_flags flags join feature_flag_strategies strategies on strategies.feature_flag_id = flags.id
           left join feature_flag_user_lists lists on lists.id = strategies.user_list_id
     where flags.project_id = ${project_id}
       and exists (select from feature_flag_scopes scopes where scopes.strategy_id = strategies.id and ${fits(environment)})
     group by flags.id order by flags.id`.execute(db);
  return rows.map(({ name, description, enabled, strategies }) => ({
    name,
    ...(description === null ? {} : { description }),
    enabled,
    strategies,
  }));
}

/** The reply for the applications of an environment. */
export interface SentFlags {
  body: Buffer;
  etag: string;
}

interface Question {
  db: Database;
  project_id: number;
  environment: string | undefined;
}

const kept_bytes = 64 * 2 ** 20;
const overhead_bytes = 256;

const newCache = () =>
  answersOf<Question, SentFlags>(
    async (question) => {
      const features = await featuresFor(question.db, question);
      const body = Buffer.from(JSON.stringify({ version: 1, features }));
      return { body, etag: `"${hash('sha256', body, 'base64url')}"` };
    },
    { maxSize: kept_bytes, sizeCalculation: ({ body }, key) => body.length + key.length + overhead_bytes },
  );

/** Per database, because the tests of one process have several. */
const caches = new WeakMap<Database, LRUCache<string, SentFlags, Question>>();

/**
 * The flags for an environment. They are read again only after a change, and are then at least as new as the version.
 * @param environment if omitted, only strategies for all environments are sent
 */
export async function flagsFor(
  db: Database,
  { project_id, version }: FlagSource,
  environment: string | undefined,
): Promise<SentFlags> {
  const cache = caches.get(db) ?? newCache();
  caches.set(db, cache);
  const key = `${project_id} ${version} ${environment === undefined ? '' : `in ${environment}`}`;
  return cache.forceFetch(key, { context: { db, project_id, environment } });
}
