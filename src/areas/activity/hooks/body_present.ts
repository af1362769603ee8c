/** The body of an event. */
import type { Filling, HookEventKind, Told } from '../../../services/index.ts';

/**
 * Makes a body.
 * @param name of the kind of event
 */
export function bodyOf(
  services: Filling & { hook_events: readonly HookEventKind[] },
  name: string,
  snapshot: unknown,
  told: Told,
): Promise<unknown> {
  const kind = services.hook_events.find((each) => each.name === name);
  if (!kind) throw new Error(`There is no presenter for events of the kind ${name}.`);
  return kind.write(services, snapshot, told);
}
