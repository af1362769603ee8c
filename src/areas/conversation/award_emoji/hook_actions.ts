/** Telling hooks of reactions (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { type Database, momentInJson } from '../../../db/index.ts';
import { awardedFacts, personFacts, projectFacts, type Sample } from '../../activity/hooks/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';

/** What a reaction is on, or the comment that it is on. */
const noteable = (column: string) => sql`coalesce(award_emoji.${sql.ref(column)}, notes.${sql.ref(column)})`;

/** Reactions in projects to what all who read the project may read. */
const rowsOf = (which: RawBuilder<unknown>) => sql`
  select projects.id as project_id, namespaces.traversal_ids as group_ids, award_emoji.id, award_emoji.name, award_emoji.user_id, award_emoji.created_at,
         award_emoji.updated_at, award_emoji.note_id, issues.id as issue_id, merge_requests.id as merge_request_id, snippets.id as snippet_id
    from award_emoji left join notes on notes.id = award_emoji.note_id
    left join issues on issues.id = ${noteable('issue_id')} left join merge_requests on merge_requests.id = ${noteable('merge_request_id')}
    left join snippets on snippets.id = ${noteable('snippet_id')}
    join projects on projects.id = coalesce(issues.project_id, merge_requests.project_id, snippets.project_id, notes.project_id)
    join namespaces on namespaces.id = projects.namespace_id
   where ${which} and not coalesce(issues.confidential, false) and not coalesce(notes.internal, false)`;

const factsOf = (event: 'award' | 'revoke') => sql`json_build_object(
  'object_kind', 'emoji', 'event_type', ${sql.lit(event)}, 'user', ${personFacts(sql`news.user_id`)}, 'project_id', news.project_id,
  'project', ${projectFacts(sql`news.project_id`)}, 'object_attributes', json_build_object(
    'id', news.id, 'user_id', news.user_id, 'name', news.name, 'created_at', ${momentInJson('news.created_at')},
    'updated_at', ${momentInJson('news.updated_at')}, 'action', ${sql.lit(event)},
    'awardable_type', case when news.note_id is not null then 'Note' when news.issue_id is not null then 'Issue'
                           when news.merge_request_id is not null then 'MergeRequest' else 'Snippet' end,
    'awardable_id', coalesce(news.note_id, news.issue_id, news.merge_request_id, news.snippet_id)), ${awardedFacts})`;

/**
 * @param tx the transaction of the change; of a reaction that is removed, before it is
 * @param which a predicate on rows of `award_emoji`
 */
export const tellOfAward = (tx: Database, event: 'award' | 'revoke', which: RawBuilder<unknown>): Promise<void> =>
  tellEach(tx, { trigger: 'emoji_events', to_system: false, rows: rowsOf(which), facts: factsOf(event) });

/** A reaction to the newest issue of a project that is not confidential, as if the user had just added it. */
export const sampleAward: Sample = async (_services, { project_id, user_id }) => sql`
  (select ${factsOf('award')} from (
     select project_id, id, 'thumbsup' as name, ${user_id}::bigint as user_id, now() as created_at, now() as updated_at, null::bigint as note_id,
            id as issue_id, null::bigint as merge_request_id, null::bigint as snippet_id
       from issues where project_id = ${project_id} and not confidential order by created_at desc, id desc limit 1) news)`;
