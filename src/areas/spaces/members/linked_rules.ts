/** What somebody is in a group by hand and by links, and which of both counts (docs/reference/group_links.md#memberships). Pure functions. */
export type LinkKind = 'ldap' | 'saml';

interface Level {
  access_level: number;
  member_role_id: number | null;
}

/** What was made by hand. */
export interface ByHand extends Level {
  expires_at: string | null;
  created_by_id: number | null;
}

/** What the highest link gives. */
export interface ByLink extends Level {
  source: LinkKind;
  /** Who made the link; null for one who is gone. */
  linked_by_id: number | null;
}

/** Whether what a link gives counts for more than what was made by hand: it is higher, or else lasts longer or has a role. */
export const countsForMore = (link: Level, hand: Omit<ByHand, 'created_by_id'>): boolean =>
  link.access_level === hand.access_level
    ? hand.expires_at !== null || (hand.member_role_id === null && link.member_role_id !== null)
    : link.access_level > hand.access_level;

/** What somebody holds in a group, and what they would have by each way. */
export interface Standing {
  user_id: number;
  /** The row of the membership; undefined without one. */
  held: (ByHand & { id: number; source: LinkKind | null; has_ended: boolean }) | undefined;
  /** What was made by hand and lies beneath what a link gives. */
  beneath: ByHand | undefined;
  link: ByLink | undefined;
}

/** What has to happen: nothing, a link gives a membership, what was made by hand comes back, or nothing is left. */
export type Step =
  | { does: 'nothing' | 'remove' }
  | { does: 'link'; gives: ByLink; buries: boolean }
  | { does: 'uncover'; gives: ByHand };

const isSame = (one: Level, other: Level): boolean =>
  one.access_level === other.access_level && one.member_role_id === other.member_role_id;

/** What has to happen so that somebody has the higher of both. */
export function stepFor({ held, beneath, link }: Standing): Step {
  const isByHand = held?.source === null;
  const hand = isByHand ? (held.has_ended ? undefined : held) : beneath;
  if (link && (!hand || countsForMore(link, hand))) {
    if (held?.source === link.source && isSame(held, link)) return { does: 'nothing' };
    return { does: 'link', gives: link, buries: isByHand && !held.has_ended };
  }
  if (isByHand || !held) return { does: 'nothing' };
  return hand ? { does: 'uncover', gives: hand } : { does: 'remove' };
}
