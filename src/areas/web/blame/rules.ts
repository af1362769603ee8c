/** How old a change is among those of a file. */

/** The number of steps in which ages are shown. */
const steps = 4;

/**
 * The quarter of the life of a file in which a change falls: 0 is the last one.
 * @param at when it changed, and @param oldest when the first shown change was, in milliseconds
 */
export function ageStep(at: number, oldest: number, now: number): number {
  const life = now - oldest;
  if (life <= 0) return 0;
  return Math.min(steps - 1, Math.floor(((now - at) / life) * steps));
}
