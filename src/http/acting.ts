/** Who acts in a call, as audit events name them (docs/reference/audit_events.md#authors). */
import { type Actor, addressOf, stranger } from '../foundation/actors.ts';
import { causeOfCall } from './cause.ts';
import type { Caller } from './endpoint.ts';

/**
 * @param caller undefined for those who are not signed in
 * @param address of the client
 * @param only the names of the events that what they do leaves; all by default
 */
export function actorOf(
  caller: Caller | undefined,
  address: string | undefined,
  only?: readonly string[] | undefined,
): Actor {
  const common = { only, cause: causeOfCall() };
  if (!caller) return { ...stranger(address), ...common };
  const rest = { ip: addressOf(address), ...common };
  if (caller.token.kind === 'deploy') return { id: -1, name: caller.name, class: 'DeployToken', ...rest };
  const { id, name, email } = caller.administrator ?? caller;
  return { id, name, email, class: 'User', as: caller.administrator && caller.username, ...rest };
}
