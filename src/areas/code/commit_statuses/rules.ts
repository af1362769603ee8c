/** The transitions of commit statuses (docs/reference/commit_statuses.md). */
import type { ReportedState } from '../pipelines/rules.ts';

/** The initial state, and the two non-final states. */
type Origin = 'created' | 'pending' | 'running';

const transitions: Record<ReportedState, { event: string; from: readonly Origin[] }> = {
  pending: { event: 'enqueue', from: ['created'] },
  running: { event: 'run', from: ['created', 'pending'] },
  success: { event: 'success', from: ['created', 'pending', 'running'] },
  failed: { event: 'drop', from: ['created', 'pending', 'running'] },
  canceled: { event: 'cancel', from: ['created', 'pending', 'running'] },
  skipped: { event: 'skip', from: ['created', 'pending'] },
};

/** Why a status may not make this transition, in the wording of the public API; undefined if it may. */
export function transitionRefusal(from: Origin, to: ReportedState): string | undefined {
  const { event, from: allowed } = transitions[to];
  if (allowed.includes(from)) return undefined;
  return `Cannot transition status via :${event} from :${from} (Reason(s): Status cannot transition via "${event}")`;
}

/** The reasons for refusing the target URL of a status. */
export function addressProblems(text: string): string[] {
  const url = URL.parse(text);
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return [];
  return [url ? 'is blocked: Only allowed schemes are http, https' : 'is blocked: URI is invalid'];
}
