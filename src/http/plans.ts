/** Plans and offerings, as endpoints, parameters and fields name them (specification part 1, section 1). */

export type Plan = 'free' | 'premium' | 'ultimate';
export type Offering = 'hosted' | 'self-managed' | 'dedicated';

const order: readonly Plan[] = ['free', 'premium', 'ultimate'];

/** Whether what needs `needed` is there under `plan`. */
export const reaches = (plan: Plan, needed: Plan | undefined) =>
  needed === undefined || order.indexOf(plan) >= order.indexOf(needed);
