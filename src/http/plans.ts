/** Plans and offerings, as endpoints, parameters and fields name them (docs/api.md). */

export type Plan = 'free' | 'premium' | 'ultimate';
export type Offering = 'hosted' | 'self-managed' | 'dedicated';

const order: readonly Plan[] = ['free', 'premium', 'ultimate'];

const names: Record<Plan, string> = { free: 'Free', premium: 'Premium', ultimate: 'Ultimate' };

/** The refusal of something above the plan in force. */
export const needsPlan = (what: string, plan: Plan): string => `${what} needs the ${names[plan]} plan`;

/** The given parameters of a request, as far as the plan matters. */
export interface GivenParameters {
  /** The names of the parameters above the plan in force, with the plan that each needs. */
  above: ReadonlyMap<string, Plan>;
  /** Whether other parameters were given. */
  others: boolean;
  /** Whether the call only reads, so that its parameters are filters. */
  reads: boolean;
}

/**
 * The text that refuses parameters above the plan; undefined if they are ignored (docs/api.md). A change ignores them if it has other parameters, as in v4. A
 * filter is never ignored, because the list would show what the caller has excluded.
 */
export function refusalOfAbove({ above, others, reads }: GivenParameters): string | undefined {
  if (above.size === 0 || (others && !reads)) return undefined;
  return [...above].map(([name, plan]) => needsPlan(name, plan)).join(', ');
}

/** Whether `plan` includes features that require `needed`. */
export const reaches = (plan: Plan, needed: Plan | undefined) =>
  needed === undefined || order.indexOf(plan) >= order.indexOf(needed);
