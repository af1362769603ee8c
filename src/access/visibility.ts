/** Visibilities of groups and projects, in order. A child is never more visible than its parent. */
export type VisibilityName = 'private' | 'internal' | 'public';
const openness: readonly VisibilityName[] = ['private', 'internal', 'public'];

/** Whether the visibility `one` is wider than `other`. */
export const isMoreVisible = (one: VisibilityName, other: VisibilityName): boolean =>
  openness.indexOf(one) > openness.indexOf(other);

/** The narrower of two visibilities. */
export const lesserVisibility = (one: VisibilityName, other: VisibilityName): VisibilityName =>
  isMoreVisible(one, other) ? other : one;
