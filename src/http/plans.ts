/** Plans and offerings, as endpoints, parameters and fields name them (specification part 1, section 1). */

export type Plan = 'free' | 'premium' | 'ultimate';
export type Offering = 'hosted' | 'self-managed' | 'dedicated';

const order: readonly Plan[] = ['free', 'premium', 'ultimate'];

const names: Record<Plan, string> = { free: 'Free', premium: 'Premium', ultimate: 'Ultimate' };

/** The sentence that refuses what is above the plan in force. */
export const needsPlan = (what: string, plan: Plan): string => `${what} needs the ${names[plan]} plan`;

/** The parameters of a request, by name, as far as the plan matters. */
export interface GivenParameters {
  /** Those above the plan in force, with the plan that each needs. */
  above: ReadonlyMap<string, Plan>;
  /** Whether others were given. */
  others: boolean;
  /** Whether the call only reads, so that parameters filter what it shows. */
  reads: boolean;
}

/**
 * The text that refuses parameters above the plan, undefined where they are ignored (docs/api.md). Beside other parameters of a change they are ignored, as
 * the reference says. A filter is never ignored, because the list would show what the caller has excluded.
 */
export function refusalOfAbove({ above, others, reads }: GivenParameters): string | undefined {
  if (above.size === 0 || (others && !reads)) return undefined;
  return [...above].map(([name, plan]) => needsPlan(name, plan)).join(', ');
}

/** Whether what needs `needed` is there under `plan`. */
export const reaches = (plan: Plan, needed: Plan | undefined) =>
  needed === undefined || order.indexOf(plan) >= order.indexOf(needed);
