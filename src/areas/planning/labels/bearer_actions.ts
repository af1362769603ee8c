/** The labels of an issuable after a change. */
import type { Database } from '../../../db/index.ts';
import { type Plan, reaches } from '../../../http/index.ts';
import { labelsFor } from './actions.ts';
import type { LabelRow } from './present.ts';
import type { LabelParent } from './queries.ts';
import { withoutRivals } from './rules.ts';

/** Titles of labels: first `labels` replaces all, then some are added, then some removed. */
export interface LabelsAsked {
  labels?: readonly string[] | undefined;
  add_labels?: readonly string[] | undefined;
  remove_labels?: readonly string[] | undefined;
}

/**
 * The labels of an issuable after a change; of each scope only the one set last.
 * @param tx the transaction of the change
 * @param parent the project or group of the issuable
 * @param borne its labels before the change
 * @param how `create`: whether missing labels are created; otherwise they are ignored
 */
export async function labelsAfter(
  tx: Database,
  parent: LabelParent,
  borne: readonly LabelRow[],
  { labels, add_labels, remove_labels = [] }: LabelsAsked,
  { create, plan }: { create: boolean; plan: Plan },
): Promise<readonly LabelRow[]> {
  if (!labels && !add_labels && remove_labels.length === 0) return borne;
  const named = await labelsFor(tx, parent, [...(labels ?? []), ...(add_labels ?? [])], { create });
  // By id: its current labels may come from a group that the project has left.
  const all = new Map((labels ? [] : borne).map((label) => [label.id, label]));
  for (const label of named.values()) {
    // A label that is set again counts as set last.
    all.delete(label.id);
    all.set(label.id, label);
  }
  const kept = reaches(plan, 'premium') ? withoutRivals([...all.values()]) : [...all.values()];
  const removed = new Set(remove_labels.map((title) => title.trim()));
  return kept.filter(({ title }) => !removed.has(title));
}
