/** An endpoint for web pages only: how much somebody did on each day of a year. */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { anyone } from '../../../access/index.ts';
import { ianaZone } from '../../../cron/time_zones.ts';
import { type AnyEndpoint, badParam, get, IdOrName, one, resource } from '../../../http/index.ts';
import { userIdNamed } from '../../people/users/index.ts';
import type { EventTargets } from './definition.ts';
import { isPrivate } from './routes.ts';
import { type Subject, sightWith } from './visibility_queries.ts';

/** More events of one user are not counted, the oldest first. */
const most = 5000;

export const ContributionDays = resource('ContributionDays', {
  today: Type.String({ format: 'date' }),
  days: Type.Array(
    Type.Object(
      { day: Type.String({ format: 'date' }), count: Type.Integer() },
      { description: 'Without days on which nothing happened' },
    ),
  ),
});

/** @param targets the possible targets of events, besides pushes and projects */
export function contributionDaysRoute(targets: EventTargets): AnyEndpoint {
  const sight = sightWith(targets);
  return get('/users/:id/contribution_days', {
    operation: 'listContributionDays',
    summary: 'Count the events of a user on each of the last 365 days',
    access: anyone,
    input: {
      id: IdOrName('ID or username'),
      time_zone: Type.String({ description: 'The zone whose days are counted' }),
    },
    returns: one(ContributionDays),
    refusals: { 404: '404 User Not Found' },
    handle: async ({ db, caller, input }) => {
      const user_id = await userIdNamed(db, input.id);
      const zone = ianaZone(input.time_zone);
      if (zone === undefined) throw badParam('time_zone', 'is invalid');
      const day = (at: RawBuilder<unknown>) => sql<string>`to_char(${at} at time zone ${zone}, 'YYYY-MM-DD')`;
      const {
        rows: [now],
      } = await sql<{ today: string }>`select ${day(sql`now()`)} as today`.execute(db);
      const today = now!.today;
      if (await isPrivate({ db }, caller, user_id)) return { today, days: [] };
      const { rows } = await sql<Subject & { day: string; count: number }>`
        select ${day(sql.ref('created_at'))} as day, project_id, is_push, target_type, target_id, count(*)::integer
          from (select created_at, project_id, action = 'pushed' as is_push, target_type, target_id from events
                 where author_id = ${user_id} and project_id is not null and created_at > now() - interval '365 days'
                 order by created_at desc limit ${sql.lit(most)}) recent
         group by 1, 2, 3, 4, 5`.execute(db);
      const seen = await sight(db, caller, rows);
      const counts = new Map<string, number>();
      for (const [index, { day, count }] of rows.entries())
        if (seen[index]) counts.set(day, (counts.get(day) ?? 0) + count);
      return { today, days: [...counts].toSorted().map(([day, count]) => ({ day, count })) };
    },
  });
}
