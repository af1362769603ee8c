/** Notifications about changes that create no event (docs/reference/notifications.md). */
import type { Issuable } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { addNotification } from '../../activity/notifications/index.ts';

/** The subscribers of labels. Most labels have none. */
const subscribersOf = async (tx: Database, label_ids: readonly number[]): Promise<number[]> => {
  const subscribed = tx.selectFrom('subscriptions').select('user_id').distinct().where('subscribed', '=', true);
  return (await subscribed.where(isAmong('label_id', label_ids, 'bigint[]')).execute()).map(({ user_id }) => user_id);
};

/**
 * Notifies participants about a new milestone, and subscribers of labels about added labels.
 * @param tx the transaction of the change
 */
export async function tellOfMetadata(
  tx: Database,
  actor_id: number,
  { kind, id }: Issuable,
  { has_other_milestone, added_label_ids }: { has_other_milestone: boolean; added_label_ids: readonly number[] },
): Promise<void> {
  const news = { target_type: kind.type, target_id: id, actor_id };
  if (has_other_milestone) await addNotification(tx, { ...news, event: 'milestone', user_ids: [] });
  const user_ids = added_label_ids.length === 0 ? [] : await subscribersOf(tx, added_label_ids);
  if (user_ids.length > 0) await addNotification(tx, { ...news, event: 'label', user_ids });
}

/** Notifies added and removed assignees or reviewers, and the other participants. */
export async function tellOfPeople(
  tx: Database,
  actor_id: number,
  { kind, id }: Issuable,
  action: 'assigned' | 'review_requested',
  user_ids: readonly number[],
): Promise<void> {
  const event = `${action === 'assigned' ? 'reassign' : 'change_reviewer'}_${kind.reference}`;
  await addNotification(tx, { event, target_type: kind.type, target_id: id, actor_id, user_ids });
}
