/**
 * The cause of a call: receivers of webhooks that call the API pass on the ID of the event that they received (docs/reference/hooks.md#recursion). It is stored in
 * async context instead of passed as an argument, because the hundred functions between a handler and the event that it triggers do not use it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';

const causes = new AsyncLocalStorage<string>();

const names = ['x-gitlab-event-uuid', 'x-service-event-uuid'];
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Runs the work of a call with its cause in context. */
export function causedBy<T>(headers: IncomingHttpHeaders, work: () => T): T {
  const cause = names.map((name) => headers[name]).find((value) => typeof value === 'string' && uuid.test(value));
  return typeof cause === 'string' ? causes.run(cause, work) : work();
}

/** The ID of the event that caused the current call, according to the caller. */
export const causeOfCall = (): string | undefined => causes.getStore();
