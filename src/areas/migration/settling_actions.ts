/**
 * References that can be resolved only after everything has been imported
 * (docs/reference/relations_export.md#references).
 */
import { epicKind, issueKind, mergeRequestKind } from '../../access/index.ts';
import type { Database } from '../../db/index.ts';
import { type Arrival, type Arrived, settleWaiting } from '../../relations/index.ts';
import { findReferred } from '../conversation/notes/index.ts';
import { findClosedIssues } from '../work/merge_requests/index.ts';
import { groupTrees, projectTrees } from './relations.ts';

/** The progress of settling: the kind of references, and the number of the last item checked. */
export interface SettlingPlace {
  stage: number;
  after: number;
}

/** The outcome of a portion. */
export interface Settled extends Arrived {
  /** Undefined if nothing is left. */
  next: SettlingPlace | undefined;
}

/** Settles a portion of one kind. `after` is undefined after the last portion. */
type Stage = (
  tx: Database,
  arrival: Arrival,
  after: number,
) => Promise<{ after: number | undefined; arrived?: Arrived }>;

const waiting: Stage = async (tx, arrival, after) => {
  const arrived = await settleWaiting(tx, arrival, arrival.owner.kind === 'project' ? projectTrees : groupTrees);
  return arrived ? { after, arrived } : { after: undefined };
};

const referred =
  (kind: Parameters<typeof findReferred>[1]): Stage =>
  async (tx, { owner }, after) => ({ after: await findReferred(tx, kind, owner.id, after) });

const closedIssues: Stage = async (tx, { services, owner, importer_id }, after) => ({
  after: await findClosedIssues(tx, services, { project_id: owner.id, importer_id }, after),
});

const stages: Readonly<Record<Arrival['owner']['kind'], readonly Stage[]>> = {
  project: [waiting, referred(issueKind), referred(mergeRequestKind), closedIssues],
  group: [waiting, referred(epicKind)],
};

/**
 * Resolves a portion of the references of a project's or group's records to the imported records: other issues,
 * parents, rules, targets of system notes, and the issues that merge requests close. A portion may be repeated.
 * @param tx the transaction that also records the progress
 * @param place 0 and 0, then `next` of the previous portion
 */
export async function settleReferences(
  tx: Database,
  arrival: Arrival,
  { stage, after }: SettlingPlace,
): Promise<Settled> {
  const all = stages[arrival.owner.kind];
  const done = await all[stage]!(tx, arrival, after);
  const { counts, failures } = done.arrived ?? { counts: {}, failures: [] };
  if (done.after !== undefined) return { counts, failures, next: { stage, after: done.after } };
  return { counts, failures, next: stage + 1 < all.length ? { stage: stage + 1, after: 0 } : undefined };
}
