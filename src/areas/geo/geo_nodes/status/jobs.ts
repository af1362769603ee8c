/**
 * Each site reports its status: a secondary to its primary, and the primary to its own database, which is replicated to
 * the secondaries.
 */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import type { Services } from '../../../../http/index.ts';
import type { Poll, PollCall } from '../../../../jobs/index.ts';
import { OutboundError } from '../../../../outbound/index.ts';
import { problemsOfLink } from '../../link/check_queries.ts';
import { askPrimaryForJson, PrimaryRefusal } from '../../link/request_actions.ts';
import { type GeoNode, ownNode } from '../queries.ts';
import { recordStatus } from './actions.ts';
import { failuresHere } from './copy_queries.ts';
import { outlineOf } from './rules.ts';
import { signsOfThisSite, statusOfThisSite } from './site_queries.ts';

/** A report is due after this time, on request, and when the site becomes healthy, or unhealthy for another reason. */
const usual = sql`interval '10 seconds'`;

/**
 * Claims the turn to report, so that only one worker of the site does.
 * @param outline a digest of the reasons in its health
 * @param asked_at when a report was last requested
 */
async function isDue(db: Database, outline: string, asked_at: string | null): Promise<boolean> {
  const value = sql`jsonb_build_object('at', now(), 'outline', ${outline}::text)`;
  const { rows } = await sql`
    insert into geo_cursors as reported (name, value) values ('reported', ${value})
        on conflict (name) do update set value = excluded.value
     where (reported.value::jsonb->>'at')::timestamptz < greatest(now() - ${usual}, ${asked_at}::timestamptz)
        or reported.value::jsonb->>'outline' <> ${outline}
    returning name`.execute(db);
  return rows.length > 0;
}

/** @throws OutboundError, PrimaryRefusal */
async function tellPrimary(services: Services): Promise<void> {
  const status = await statusOfThisSite(services);
  const problems = [...status.problems, ...(await problemsOfLink(services))];
  await askPrimaryForJson(services, { method: 'POST', path: '/status', body: JSON.stringify({ ...status, problems }) });
}

/** Reports the status. Until its first copy of the database is complete, a secondary has no row for its node. */
async function tell(services: Services, node: GeoNode | undefined): Promise<void> {
  if (services.geo.role === 'primary') {
    if (node) await recordStatus(services.db, node.id, await statusOfThisSite(services));
    return;
  }
  try {
    await tellPrimary(services);
  } catch (error) {
    // The polls of the replication report that the primary does not respond.
    if (!(error instanceof OutboundError || error instanceof PrimaryRefusal)) throw error;
  }
}

/**
 * Retries failed copies once per repair request. The time of the request is stored, so that later failures wait their
 * usual time again.
 */
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
    if (geo.role === undefined) return false;
    const node = await ownNode(db, call);
    if (node && geo.role === 'secondary') await tryAgain(call, node);
    const outline = outlineOf(await signsOfThisSite(call), await failuresHere(db));
    if (await isDue(db, outline, node?.refresh_requested_at ?? null)) await tell(call, node);
    return false;
  },
};

/** The polls of both kinds of sites. */
export const statusPolls: readonly Poll[] = [report];
