/**
 * What has caused a call: receivers of webhooks that call the API pass on the ID of the event that they received (docs/reference/hooks.md#recursion).
 *
 * It accompanies the call instead of being an argument, because the hundred functions between a handler and the event that it triggers have nothing to do with it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';

const causes = new AsyncLocalStorage<string>();

const names = ['x-gitlab-event-uuid', 'x-service-event-uuid'];
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Runs the work of a call, which knows what has caused it. */
export function causedBy<T>(headers: IncomingHttpHeaders, work: () => T): T {
  const cause = names.map((name) => headers[name]).find((value) => typeof value === 'string' && uuid.test(value));
  return typeof cause === 'string' ? causes.run(cause, work) : work();
}

/** The ID of the event that has caused the current call, as its caller says. */
export const causeOfCall = (): string | undefined => causes.getStore();
