/** The plan in force. Ultimate, unless the operator chose the free plan. */
import type { Plan } from '../http/plans.ts';

/**
 * @param license the value of COPPICE_LICENSE
 * @returns what answers which plan is in force; asked at every request, because a plan may change while the server runs
 */
export const planFrom = (license: string | undefined) => (): Plan => (license === 'none' ? 'free' : 'ultimate');
