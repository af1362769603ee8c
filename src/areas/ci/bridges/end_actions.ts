/** Changes bridges, each with what follows from it in one transaction (docs/reference/pipelines.md#bridges). */
import { sql } from 'kysely';
import { type Database, takeTurn } from '../../../db/index.ts';
import type { Services } from '../../../http/index.ts';
import { isFinal, type State } from '../../code/pipelines/index.ts';
import { cancelOthers } from '../running/change_actions.ts';
import { renewEnvironmentOf } from '../running/deployment_actions.ts';
import { forgetSkipped, onPipeline, processPipeline } from '../running/process_actions.ts';
import type { Running } from '../running/queries.ts';
import { storeIn } from '../running/store_actions.ts';
import { type ReadyBridge, readyBridge, type StandingBridge, sizeOfTree, waitingBridge } from './queries.ts';
import { type BridgeFailure, mostInTree, stateOfWaiting } from './rules.ts';
import type { Outcome } from './start_actions.ts';

interface End {
  status: State;
  reason: BridgeFailure | null;
  allow_failure: boolean;
}

/** A bridge and its pipeline. */
type Place = Pick<StandingBridge, 'job_id' | 'pipeline_id' | 'project_id'>;

/** @param tx a transaction that has locked the pipeline of the bridge */
async function become(
  tx: Database,
  pipeline: Running,
  job_id: number,
  { status, reason, allow_failure }: End,
): Promise<void> {
  await sql`
    update commit_statuses
       set status = ${status}, failure_reason = ${reason}, started_at = coalesce(started_at, now()),
           finished_at = ${isFinal(status) ? sql`now()` : null}
     where id = ${job_id}`.execute(tx);
  await processPipeline(tx, pipeline, { changed: [job_id] });
  if (status === 'success') await renewEnvironmentOf(tx, job_id);
  if (status === 'failed' && !allow_failure) await cancelOthers(tx, pipeline);
}

const stateIn = async (tx: Database, id: number): Promise<State> =>
  (await tx.selectFrom('pipelines').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status as State;

/** The pipeline and whether the bridge waits for it, or why there is none. */
type Begun = { pipeline_id: number; waits: boolean } | { reason: BridgeFailure };

/** Stores what a bridge starts, or which pipeline it has found. */
async function begun(
  tx: Database,
  { ready: { id: job_id, bridge }, secrets }: { ready: ReadyBridge; secrets: Services['secrets'] },
  outcome: Outcome,
): Promise<Begun> {
  if ('reason' in outcome) return outcome;
  if ('takes' in outcome) {
    const pipeline_id = outcome.takes;
    const still = tx.selectFrom('pipelines').select('id').where('id', '=', pipeline_id).forKeyShare();
    if (!(await still.executeTakeFirst())) return { reason: 'downstream_bridge_project_not_found' };
    await tx.insertInto('bridges').values({ job_id, pipeline_id, has_started: false, waits: true }).execute();
    return { pipeline_id, waits: true };
  }
  const { made, content, tree_id } = outcome;
  await takeTurn(tx, `tree of pipelines ${tree_id}`);
  if ((await sizeOfTree(tx, tree_id)) >= mostInTree) return { reason: 'reached_max_pipeline_hierarchy_size' };
  const waits = bridge.strategy !== undefined;
  const pipeline_id = (await storeIn(tx, secrets, { made, content, bridge: { job_id, waits } }))!;
  return 'status' in content ? { reason: 'downstream_pipeline_creation_failed' } : { pipeline_id, waits };
}

async function stateAfter(tx: Database, found: Begun): Promise<Pick<End, 'status' | 'reason'>> {
  if ('reason' in found) return { status: 'failed', reason: found.reason };
  return found.waits ? stateOfWaiting(await stateIn(tx, found.pipeline_id)) : { status: 'success', reason: null };
}

/** Begins what a bridge starts, and moves the bridge on, together: a bridge that was canceled meanwhile starts nothing, and none starts two. */
export const beginBridge = (
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  place: Place,
  outcome: Outcome,
): Promise<void> =>
  onPipeline(db, place, async (tx, pipeline) => {
    const ready = await readyBridge(tx, place.job_id);
    if (!ready) return;
    const found = await begun(tx, { ready, secrets }, outcome);
    const state = await stateAfter(tx, found);
    await become(tx, pipeline, ready.id, { ...state, allow_failure: ready.definition.allow_failure === true });
  });

/** Lets a bridge take the status of the pipeline that it waits for. One that has ended begins again if the pipeline does. */
export const followBridge = (db: Database, place: Place): Promise<void> =>
  onPipeline(db, place, async (tx, pipeline) => {
    const bridge = await waitingBridge(tx, place.job_id);
    if (!bridge) return;
    const state = stateOfWaiting(bridge.pipeline);
    // What is gone changes nothing that has ended.
    if (state.status === bridge.status || (bridge.pipeline === null && isFinal(bridge.status))) return;
    if (isFinal(bridge.status)) await forgetSkipped(tx, pipeline.id);
    await become(tx, pipeline, place.job_id, { ...state, allow_failure: bridge.allow_failure });
  });
