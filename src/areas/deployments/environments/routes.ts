/** Environments: the places where a project is deployed (docs/reference/environments.md). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { Type } from 'typebox';
import {
  badRequest,
  checked,
  containing,
  del,
  get,
  Id,
  mutuallyExclusive,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  type Rule,
  resource,
  withStatus,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { projectIdentityJson } from '../../people/namespaces/index.ts';
import { tiers } from '../protected_environments/rules.ts';
import { environmentsMaintainer, environmentsReader, environmentsWriter } from './access.ts';
import {
  changeEnvironment,
  createEnvironment,
  lockedEnvironment,
  removeEnvironment,
  scheduleReviewApps,
  stopEnvironments,
  stopStaleEnvironments,
} from './actions.ts';
import { type Deployables, Environment, EnvironmentInList } from './present.ts';
import { environmentReply, environmentsOf } from './queries.ts';
import {
  descriptionReasons,
  endReasons,
  environmentStates,
  externalUrlReasons,
  maximumEnvironments,
  nameReasons,
  spanReasons,
  tooManyText,
} from './rules.ts';

const path = '/projects/:id/environments';
const single = { environment_id: Id };

const slugText = 'slug is automatically generated and cannot be changed';
const noSlug: Rule = (given) => (given.has('slug') ? slugText : undefined);
const oneSearch: Rule = (given) =>
  given.has('name') && given.has('search') ? 'name, search cannot be used together' : undefined;
const fieldRules = [noSlug, mutuallyExclusive('auto_stop_at', 'auto_stop_in')];

const Name = (options = {}) => checked(Type.String(options), nameReasons);
const fields = {
  external_url: optional(
    checked(nullable(Type.String({ description: '`http` or `https`; blank clears it' })), externalUrlReasons),
  ),
  slug: optional(Type.String({ description: 'Refused: the slug is generated from the name' })),
  tier: optional(Type.Enum(tiers, { description: 'By default, what the name suggests' })),
  description: optional(checked(nullable(Type.String({ description: 'Markdown' })), descriptionReasons)),
  auto_stop_at: optional(
    checked(
      nullable(Type.String({ format: 'date-time', description: 'When it stops by itself; null: never' })),
      endReasons,
    ),
  ),
  auto_stop_in: optional(
    checked(nullable(Type.String({ description: 'After what time it stops by itself, e.g. `3 days`' })), spanReasons),
  ),
};

const [searchFrom, day_ms] = [3, 86_400_000];
const tooShortText = '400 Bad request - Search query is less than 3 characters';
const invalidDateText = '400 Bad request - Invalid Date';

interface Filters {
  name?: string;
  search?: string;
  states?: string;
}

/** @throws ApiError 400 if the search text is too short */
function matching({ name, search, states }: Filters): RawBuilder<SqlBool> {
  if (search !== undefined && search !== '' && search.length < searchFrom) throw badRequest(tooShortText);
  const predicates = [
    sql`true`,
    ...(name === undefined ? [] : [sql`environments.name = ${name}`]),
    ...(search ? [sql`environments.name ilike ${containing(search)}`] : []),
    ...(states === undefined ? [] : [sql`environments.state = ${states}`]),
  ];
  return sql<SqlBool>`${sql.join(predicates, sql` and `)}`;
}

/** @throws ApiError 400 unless the time is between ten years and a week ago */
function refuseRecent(before: string): void {
  const age_ms = Date.now() - Date.parse(before);
  if (age_ms < 7 * day_ms || age_ms > 3653 * day_ms) throw badRequest(invalidDateText);
}

const ReviewApp = Type.Object({
  id: Id,
  name: Type.String(),
  slug: Type.String(),
  external_url: nullable(Type.String()),
});
const ReviewApps = resource('ReviewApps', {
  scheduled_entries: Type.Array(ReviewApp),
  unprocessable_entries: Type.Array(ReviewApp),
});

/** @param deployables finds the jobs of deployments */
export const environmentRoutes = (deployables: Deployables) => [
  get(path, {
    operation: 'listEnvironments',
    summary: 'List the environments of a project, by name',
    access: environmentsReader,
    input: {
      name: optional(Type.String({ description: 'The one of this name' })),
      search: optional(Type.String({ description: 'A part of the name, at least three characters' })),
      states: optional(Type.Enum(environmentStates)),
      ...paging,
    },
    rules: [oneSearch],
    returns: pageOf(EnvironmentInList),
    refusals: { 400: tooShortText },
    handle: ({ db, project, input }) =>
      paginate(
        db,
        environmentsOf(db, project.id)
          .innerJoin('projects', 'projects.id', 'environments.project_id')
          .select(projectIdentityJson.$notNull().as('project'))
          .where(matching(input))
          .orderBy('environments.name')
          .orderBy('environments.id'),
        input,
      ),
  }),
  post(path, {
    operation: 'createEnvironment',
    summary: 'Create an environment',
    description: `A project has at most ${maximumEnvironments} environments.`,
    access: environmentsWriter,
    input: { name: Name(), ...fields },
    rules: fieldRules,
    returns: one(Environment),
    refusals: { 400: [`base: ${tooManyText}`, 'name: has already been taken'] },
    handle: async ({ caller, project, input: { slug: _slug, ...input }, ...services }) => {
      const id = await services.db.transaction().execute((tx) => createEnvironment(tx, { project, caller }, input));
      return environmentReply(services, { project, deployables }, id);
    },
  }),
  del(`${path}/review_apps`, {
    operation: 'deleteReviewApps',
    summary: 'Delete the environments of review apps that were stopped',
    description:
      'Those that were created before a time, and whose names begin with `review/`. They are deleted a week later, unless something is deployed to them.',
    access: environmentsWriter,
    input: {
      before: optional(
        Type.String({
          format: 'date-time',
          description: 'When they were created at the latest; 30 days ago by default',
        }),
      ),
      limit: Type.Integer({ default: 100, minimum: 1, maximum: 1000 }),
      dry_run: Type.Boolean({ default: true, description: 'Whether they are only shown' }),
    },
    returns: withStatus(200, one(ReviewApps)),
    handle: async ({ db, project, input: { before, ...input } }) => ({
      scheduled_entries: await scheduleReviewApps(db, project.id, {
        before: before ?? new Date(Date.now() - 30 * day_ms).toISOString(),
        ...input,
      }),
      unprocessable_entries: [],
    }),
  }),
  post(`${path}/stop_stale`, {
    operation: 'stopStaleEnvironments',
    summary: 'Stop the environments that were neither changed nor deployed to since a time',
    access: environmentsMaintainer,
    input: { before: Type.String({ format: 'date-time', description: 'From ten years to a week ago' }) },
    returns: withStatus(200, one(Type.Object({ message: Type.String() }))),
    refusals: { 400: invalidDateText },
    handle: async ({ db, caller, project, input: { before } }) => {
      refuseRecent(before);
      await stopStaleEnvironments(db, { project_id: project.id, user_id: caller.id, before });
      return { message: 'Successfully scheduled stale environments to stop' };
    },
  }),
  get(`${path}/:environment_id`, {
    operation: 'getEnvironment',
    summary: 'Get an environment with its last successful deployment',
    access: environmentsReader,
    input: single,
    returns: one(Environment),
    handle: ({ project, input, ...services }) =>
      environmentReply(services, { project, deployables }, input.environment_id),
  }),
  put(`${path}/:environment_id`, {
    operation: 'updateEnvironment',
    summary: 'Update an environment',
    access: environmentsWriter,
    input: { ...single, name: optional(Name()), ...fields },
    rules: fieldRules,
    returns: one(Environment),
    refusals: { 400: 'name: has already been taken' },
    handle: async ({ caller, project, input: { environment_id, slug: _slug, ...changes }, ...services }) => {
      await services.db.transaction().execute(async (tx) => {
        const environment = await lockedEnvironment(tx, { project, caller }, environment_id);
        await changeEnvironment(tx, { project, caller }, environment, changes);
      });
      return environmentReply(services, { project, deployables }, environment_id);
    },
  }),
  post(`${path}/:environment_id/stop`, {
    operation: 'stopEnvironment',
    summary: 'Stop an environment',
    description: 'If a job stops it, that job is started, and the environment is `stopping` until it ends.',
    access: environmentsWriter,
    input: {
      ...single,
      force: Type.Boolean({ default: false, description: 'Whether it stops without the job that would stop it' }),
    },
    returns: withStatus(200, one(Environment)),
    handle: async ({ caller, project, input: { environment_id, force }, ...services }) => {
      await services.db.transaction().execute(async (tx) => {
        const { id } = await lockedEnvironment(tx, { project, caller }, environment_id);
        await stopEnvironments(tx, sql<SqlBool>`environments.id = ${id}`, { user_id: caller.id, force });
      });
      return environmentReply(services, { project, deployables }, environment_id);
    },
  }),
  del(`${path}/:environment_id`, {
    operation: 'deleteEnvironment',
    summary: 'Delete an environment that is stopped, with its deployments',
    access: environmentsWriter,
    input: single,
    returns: nothing,
    handle: ({ db, caller, project, input }) =>
      db
        .transaction()
        .execute(async (tx) =>
          removeEnvironment(tx, await lockedEnvironment(tx, { project, caller }, input.environment_id)),
        ),
  }),
];
