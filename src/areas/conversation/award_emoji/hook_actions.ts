/** Hook events of reactions (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import type { StoredKind } from '../../../access/index.ts';
import { type Database, momentInJson } from '../../../db/index.ts';
import { type HookItem, personFacts, projectFacts, type Sample } from '../../activity/hooks/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';

/** The target of a reaction as hooks show it. */
type On = HookItem<StoredKind>;

/** Reactions in projects whose target everyone who can read the project may read. */
const rowsOf = ({ kind: { table, column }, isConfidential = sql`false` }: On, which: RawBuilder<unknown>) => sql`
  select projects.id as project_id, namespaces.traversal_ids as group_ids, award_emoji.id, award_emoji.name, award_emoji.user_id, award_emoji.created_at,
         award_emoji.updated_at, award_emoji.note_id, ${sql.ref(`${table}.id`)} as ${sql.ref(column)}
    from award_emoji left join notes on notes.id = award_emoji.note_id
    join ${sql.table(table)} on ${sql.ref(`${table}.id`)} = coalesce(award_emoji.${sql.ref(column)}, notes.${sql.ref(column)})
    join projects on projects.id = ${sql.ref(`${table}.project_id`)}
    join namespaces on namespaces.id = projects.namespace_id
   where ${which} and not ${isConfidential} and not coalesce(notes.internal, false)`;

/**
 * The fields that show the target in events about reactions, by the corresponding fields in events about comments.
 * Fields of other nouns are null.
 */
const members = { issue: 'issue', merge_request: 'merge_request', snippet: 'project_snippet' } as const;

const factsOf = (on: On, event: 'award' | 'revoke') => sql`json_build_object(
  'object_kind', 'emoji', 'event_type', ${sql.lit(event)}, 'user', ${personFacts(sql`news.user_id`)}, 'project_id', news.project_id,
  'project', ${projectFacts(sql`news.project_id`)}, 'object_attributes', json_build_object(
    'id', news.id, 'user_id', news.user_id, 'name', news.name, 'created_at', ${momentInJson('news.created_at')},
    'updated_at', ${momentInJson('news.updated_at')}, 'action', ${sql.lit(event)},
    'awardable_type', case when news.note_id is not null then 'Note' else ${sql.lit(on.kind.type)} end,
    'awardable_id', coalesce(news.note_id, ${sql.ref(`news.${on.kind.column}`)})),
  ${sql.join(Object.entries(members).map(([member, name]) => sql`${sql.lit(name)}, ${on.member === member ? on.facts('news') : sql`null`}`))})`;

/**
 * @param tx the transaction of the change; for a removed reaction, before the removal
 * @param on the target; only nouns with a hook description trigger hooks
 * @param which a predicate on rows of `award_emoji`
 */
export async function tellOfAward(
  tx: Database,
  on: On | undefined,
  event: 'award' | 'revoke',
  which: RawBuilder<unknown>,
): Promise<void> {
  if (!on) return;
  await tellEach(tx, { trigger: 'emoji_events', to_system: false, rows: rowsOf(on, which), facts: factsOf(on, event) });
}

/** A sample reaction to the newest non-confidential item of a project, as if the user had just added it. */
export const sampleAward =
  (on: On): Sample =>
  async (_services, { project_id, user_id }) =>
    sql`
  (select ${factsOf(on, 'award')} from (
     select project_id, id, 'thumbsup' as name, ${user_id}::bigint as user_id, now() as created_at, now() as updated_at, null::bigint as note_id,
            id as ${sql.ref(on.kind.column)}
       from ${sql.table(on.kind.table)} where project_id = ${project_id} and not ${on.isConfidential ?? sql`false`}
      order by created_at desc, id desc limit 1) news)`;
