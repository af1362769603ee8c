/** Background work of access tokens. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { momentInJson, objectInJson } from '../../../db/index.ts';
import { DateOnly, Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import {
  groupRow,
  HookGroup,
  HookProject,
  presentProject,
  projectRow,
  type Sample,
  sampled,
} from '../../activity/hooks/index.ts';
import { hookEvent, newsOf, type Refs, tellEach } from '../../instance/hook_events/index.ts';
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

interface TokenNews {
  project_id: number | null;
  group_id: number | null;
  id: number;
  user_id: number;
  name: string;
  expires_at: string | null;
  created_at: string;
}

export const accessTokenEvent = hookEvent({
  name: 'access_token',
  summary: 'An access token of a project or group expires within a week',
  triggers: ['resource_access_token_events'],
  snapshot: (news: Refs<TokenNews>) => ({
    project: projectRow(news.project_id),
    group: groupRow(news.group_id),
    token: objectInJson({
      id: news.id,
      user_id: news.user_id,
      name: news.name,
      expires_at: news.expires_at,
      created_at: momentInJson(news.created_at),
    }),
  }),
  body: resource('AccessTokenHookBody', {
    object_kind: Type.Literal('access_token'),
    event_name: Type.Literal('expiring_access_token'),
    project: nullable(HookProject),
    group: nullable(HookGroup),
    object_attributes: Type.Object({
      id: Id,
      user_id: Id,
      name: Type.String(),
      expires_at: nullable(DateOnly),
      created_at: Timestamp,
    }),
  }),
}).presentedBy(({ project, group, token }, services) => ({
  object_kind: 'access_token',
  event_name: 'expiring_access_token',
  project: project && presentProject(project, services),
  group,
  object_attributes: token,
}));

const expiring = newsOf(
  {
    project_id: sql<number | null>`bots.project_id`,
    group_id: sql<number | null>`bots.group_id`,
    group_ids: sql<number[]>`namespaces.traversal_ids`,
    id: sql<number>`tokens.id`,
    user_id: sql<number>`tokens.user_id`,
    name: sql<string>`tokens.name`,
    expires_at: sql<string | null>`tokens.expires_at`,
    created_at: sql<string>`tokens.created_at`,
  },
  sql`
    from personal_access_tokens tokens join access_token_bots bots on bots.user_id = tokens.user_id
    left join projects on projects.id = bots.project_id join namespaces on namespaces.id = coalesce(bots.group_id, projects.namespace_id)
   where not tokens.revoked and tokens.expires_at <= current_date + ${sql.lit(ahead_days)}
     and tokens.expires_at > (select coalesce(max(day), current_date - 1) + ${sql.lit(ahead_days)} from access_token_notices)`,
);

/** A sample project token that expires in a week, as if the user had one. */
export const sampleToken: Sample = async (_services, { project_id, user_id }) =>
  sampled(
    accessTokenEvent,
    newsOf(
      {
        project_id: sql<number | null>`id`,
        group_id: sql<number | null>`null::bigint`,
        id: sql<number>`1`,
        user_id: sql<number>`${user_id}::bigint`,
        name: sql<string>`'sample'::text`,
        expires_at: sql<string | null>`current_date + ${sql.lit(ahead_days)}`,
        created_at: sql<string>`now()`,
      },
      sql`from projects where id = ${project_id}`,
    ),
  );

/** Every day: triggers hooks once for each token of a project or group that expires within a week. */
export const tellOfExpiringTokens = job('tell_of_expiring_tokens', {
  input: {},
  retries: 5,
  schedule: '10 1 * * *',
  run: ({ db }) =>
    db.transaction().execute(async (tx) => {
      await sql`lock table access_token_notices in exclusive mode`.execute(tx);
      await tellEach(tx, accessTokenEvent, expiring);
      await sql`delete from access_token_notices where day < current_date`.execute(tx);
      await sql`insert into access_token_notices values (current_date) on conflict do nothing`.execute(tx);
    }),
});
