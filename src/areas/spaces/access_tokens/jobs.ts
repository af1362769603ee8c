/** Background work of access tokens. */
import { sql } from 'kysely';
import { momentInJson } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';
import { groupFacts, projectFacts, type Sample } from '../../activity/hooks/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';
import { scheduleRemovalOfOrphans } from '../../people/users/index.ts';

/** Every hour: schedules the deletion of bot users whose project or group was deleted. */
export const removeOrphanedBots = job('remove_orphaned_bots', {
  input: {},
  retries: 2,
  schedule: '27 * * * *',
  run: ({ db }) => scheduleRemovalOfOrphans(db, 'project_bot', 'access_token_bots'),
});

/** How many days before the expiry hooks are triggered. */
const ahead_days = 7;

const expiring = sql`
  select bots.project_id, bots.group_id, namespaces.traversal_ids as group_ids, tokens.id, tokens.user_id, tokens.name, tokens.expires_at, tokens.created_at
    from personal_access_tokens tokens join access_token_bots bots on bots.user_id = tokens.user_id
    left join projects on projects.id = bots.project_id join namespaces on namespaces.id = coalesce(bots.group_id, projects.namespace_id)
   where not tokens.revoked and tokens.expires_at <= current_date + ${sql.lit(ahead_days)}
     and tokens.expires_at > (select coalesce(max(day), current_date - 1) + ${sql.lit(ahead_days)} from access_token_notices)`;

const facts = sql`json_build_object(
  'object_kind', 'access_token', 'event_name', 'expiring_access_token', 'project', ${projectFacts(sql`news.project_id`)},
  'group', ${groupFacts(sql`news.group_id`)},
  'object_attributes', json_build_object('id', news.id, 'user_id', news.user_id, 'name', news.name, 'expires_at', news.expires_at,
                                         'created_at', ${momentInJson('news.created_at')}))`;

/** A sample project token that expires in a week, as if the user had one. */
export const sampleToken: Sample = async (_services, { project_id, user_id }) => sql`
  (select ${facts} from (
     select id as project_id, null::bigint as group_id, 1 as id, ${user_id}::bigint as user_id, 'sample' as name,
            current_date + ${sql.lit(ahead_days)} as expires_at, now() as created_at
       from projects where id = ${project_id}) news)`;

/** Every day: triggers hooks once for each token of a project or group that expires within a week. */
export const tellOfExpiringTokens = job('tell_of_expiring_tokens', {
  input: {},
  retries: 5,
  schedule: '10 1 * * *',
  run: ({ db }) =>
    db.transaction().execute(async (tx) => {
      await sql`lock table access_token_notices in exclusive mode`.execute(tx);
      await tellEach(tx, { trigger: 'resource_access_token_events', to_system: false, rows: expiring, facts });
      await sql`delete from access_token_notices where day < current_date`.execute(tx);
      await sql`insert into access_token_notices values (current_date) on conflict do nothing`.execute(tx);
    }),
});
