/** Each site tells how it is: a secondary its primary, and the primary its own database, from which the secondaries have it. */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { Poll, PollCall } from '../../../../jobs/index.ts';
import { OutboundError } from '../../../../outbound/index.ts';
import { askPrimaryForJson, PrimaryRefusal, problemsOfLink } from '../../link/index.ts';
import { type GeoNode, ownNode } from '../queries.ts';
import { recordStatus } from './actions.ts';
import type { SiteStatus } from './definition.ts';
import { reasonsOf } from './rules.ts';
import { statusOfThisSite } from './site_queries.ts';

/** A report is due after this time, when somebody has asked for one, and when the site has become healthy or unhealthy for another reason. */
const usual = sql`interval '10 seconds'`;

/** The numbers in sentences change all the time. */
const healthOf = (status: SiteStatus): string => reasonsOf(status).join(' ').replaceAll(/\d+/g, 'n');

/**
 * Takes the turn to report, for which all workers of the site wait.
 * @param asked_at when somebody asked for a report last
 */
async function isDue(db: Database, health: string, asked_at: string | null): Promise<boolean> {
  const value = sql`jsonb_build_object('at', now(), 'health', ${health}::text)`;
  const { rows } = await sql`
    insert into geo_cursors as reported (name, value) values ('reported', ${value})
        on conflict (name) do update set value = excluded.value
     where (reported.value::jsonb->>'at')::timestamptz < greatest(now() - ${usual}, ${asked_at}::timestamptz)
        or reported.value::jsonb->>'health' <> ${health}
    returning name`.execute(db);
  return rows.length > 0;
}

/** @throws OutboundError, PrimaryRefusal */
async function tellPrimary(services: Services, status: SiteStatus): Promise<void> {
  const problems = [...status.problems, ...(await problemsOfLink(services))];
  await askPrimaryForJson(services, { method: 'POST', path: '/status', body: JSON.stringify({ ...status, problems }) });
}

async function tell(services: Services, node: GeoNode, status: SiteStatus): Promise<void> {
  if (node.primary) return recordStatus(services.db, node.id, status);
  try {
    await tellPrimary(services, status);
  } catch (error) {
    // What follows the database says that the primary does not answer.
    if (!(error instanceof OutboundError || error instanceof PrimaryRefusal)) throw error;
  }
}

/** When repairing was asked for last is kept, so that what fails after it waits its time again. */
async function tryAgain({ db }: PollCall, { repair_requested_at }: GeoNode): Promise<void> {
  if (repair_requested_at === null) return;
  await sql`
    with repaired as (
      insert into geo_cursors as known (name, value) values ('repaired', ${repair_requested_at})
          on conflict (name) do update set value = excluded.value where known.value <> excluded.value
      returning name
    )
    update geo_replicas set retry_at = now() from repaired where state = 'failed'`.execute(db);
}

const report: Poll = {
  name: 'report_geo_status',
  every_ms: 2000,
  run: async (call) => {
    const { db, geo } = call;
    const node = geo.role === undefined ? undefined : await ownNode(db, call);
    if (!node) return false;
    if (!node.primary) await tryAgain(call, node);
    const status = await statusOfThisSite(call);
    if (await isDue(db, healthOf(status), node.refresh_requested_at)) await tell(call, node, status);
    return false;
  },
};

/** For both sites. */
export const statusPolls: readonly Poll[] = [report];
