/** Filters of pipeline lists. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { allOptional, Direction } from '../../../http/index.ts';
import { otherSources, scopes, sources, states } from './rules.ts';

const Moment = Type.String({ format: 'date-time' });
const orders = ['id', 'status', 'ref', 'updated_at', 'user_id'] as const;

export const pipelineFilters = allOptional({
  scope: Type.Enum(scopes, { description: 'Those in these states, or those of branches or tags' }),
  status: Type.Enum(states),
  source: Type.Enum([...sources, ...otherSources]),
  ref: Type.String(),
  sha: Type.String(),
  username: Type.String({ description: 'Begun by this user' }),
  updated_after: Moment,
  updated_before: Moment,
  created_after: Moment,
  created_before: Moment,
  name: Type.String({ description: 'As `workflow:name` has named it' }),
  yaml_errors: Type.Boolean({ description: 'Whether the configuration could not be compiled' }),
  order_by: Type.Enum(orders, { default: 'id' }),
  sort: Direction,
});
type Filters = Static<TObject<typeof pipelineFilters>>;

const scoped: Record<(typeof scopes)[number], RawBuilder<unknown>> = {
  running: sql`pipelines.status = 'running'`,
  pending: sql`pipelines.status = 'pending'`,
  finished: sql`pipelines.status in ('success', 'failed', 'canceled', 'skipped')`,
  branches: sql`not pipelines.tag`,
  tags: sql`pipelines.tag`,
};

/** A predicate on rows of `pipelines`. */
export function matching(given: Filters): RawBuilder<SqlBool> {
  const { scope, status, source, ref, sha, username, name, yaml_errors } = given;
  const predicates = [
    // Children are shown with their parents, unless they are asked for.
    source ? sql`pipelines.source = ${source}` : sql`pipelines.source <> 'parent_pipeline'`,
    ...(name === undefined ? [] : [sql`pipelines.name = ${name}`]),
    ...(yaml_errors === undefined ? [] : [sql`(pipelines.yaml_errors is not null) = ${yaml_errors}`]),
    ...(scope ? [scoped[scope]] : []),
    ...(status ? [sql`pipelines.status = ${status}`] : []),
    ...(ref === undefined ? [] : [sql`pipelines.ref = ${ref}`]),
    ...(sha === undefined ? [] : [sql`pipelines.sha = ${sha}`]),
    ...(username === undefined
      ? []
      : [sql`pipelines.user_id = (select users.id from users where users.username = ${username})`]),
    ...(given.updated_after ? [sql`pipelines.updated_at > ${given.updated_after}`] : []),
    ...(given.updated_before ? [sql`pipelines.updated_at < ${given.updated_before}`] : []),
    ...(given.created_after ? [sql`pipelines.created_at > ${given.created_after}`] : []),
    ...(given.created_before ? [sql`pipelines.created_at < ${given.created_before}`] : []),
  ];
  return sql<SqlBool>`${sql.join(predicates, sql` and `)}`;
}
