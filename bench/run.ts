/**
 * `npm run bench`: measures the product beside the limit for the same work, in one run, and prints a table. Ratios count, not figures: both sides meet the same
 * machine. BENCH_SECONDS and BENCH_WARM_UP_SECONDS set how long each address is loaded. With PEER, PEER_URL and PEER_TOKEN, another
 * platform is measured as well (peer.ts).
 */
import { measureAuditEvents } from './audit_events.ts';
import { measureCiConfiguration } from './ci_configuration.ts';
import { measureDependencies } from './dependencies.ts';
import { measureErrorAttack } from './error_attack.ts';
import { measureErrorLists } from './error_lists.ts';
import { measureErrorTracking } from './error_tracking.ts';
import { measureEvents } from './events.ts';
import { measureFeatureFlags } from './feature_flags.ts';
import { workFolder } from './instance.ts';
import { measureIssues } from './issues.ts';
import { measureLongLists } from './long_lists.ts';
import { measureMergeRequests } from './merge_requests.ts';
import { measureMigration } from './migration.ts';
import { measureMirrors } from './mirrors.ts';
import { measureMixedLoad } from './mixed_load.ts';
import { measureNotifications } from './notifications.ts';
import { measurePages } from './pages.ts';
import { measurePeer, peerFrom, peerVariables } from './peer.ts';
import { measurePushRules } from './push_rules.ts';
import { measureRepositories } from './repositories.ts';
import { measureWaitingRunners } from './runner_waiting.ts';
import { measureRunners } from './runners.ts';
import { measureSearch } from './search.ts';
import { measureSecurityPolicies } from './security_policies.ts';
import { measureStorageMoves } from './storage_moves.ts';
import { print, type Row } from './table.ts';
import { measureTransfers } from './transfers.ts';
import { measureWikis } from './wikis.ts';

/** `npm run bench -- issues` measures that part alone. */
const asked = (part: string) => process.argv.length < 3 || process.argv.includes(part);

const { folder, remove } = await workFolder();
try {
  const rows: Row[] = [];
  if (asked('repositories')) rows.push(...(await measureRepositories(folder)));
  if (asked('wikis')) rows.push(...(await measureWikis(folder)));
  if (asked('transfers')) rows.push(...(await measureTransfers(folder)));
  if (asked('migration')) rows.push(...(await measureMigration(folder)));
  if (asked('storage_moves')) rows.push(...(await measureStorageMoves(folder)));
  if (asked('mirrors')) rows.push(...(await measureMirrors(folder)));
  if (asked('push_rules')) rows.push(...(await measurePushRules(folder)));
  if (asked('security_policies')) rows.push(...(await measureSecurityPolicies(folder)));
  if (asked('merge_requests')) rows.push(...(await measureMergeRequests(folder)));
  if (asked('mixed_load')) rows.push(...(await measureMixedLoad(folder)));
  if (asked('notifications')) rows.push(...(await measureNotifications(folder)));
  if (asked('error_tracking')) rows.push(...(await measureErrorTracking(folder)));
  if (asked('error_attack')) rows.push(...(await measureErrorAttack(folder)));
  if (asked('error_lists')) rows.push(...(await measureErrorLists(folder)));
  if (asked('dependencies')) rows.push(...(await measureDependencies(folder)));
  if (asked('ci_configuration')) rows.push(...(await measureCiConfiguration(folder)));
  if (asked('runners')) rows.push(...(await measureRunners(folder)));
  if (asked('waiting_runners')) rows.push(...(await measureWaitingRunners(folder)));
  if (asked('audit_events')) rows.push(...(await measureAuditEvents(folder)));
  if (asked('events')) rows.push(...(await measureEvents(folder)));
  if (asked('feature_flags')) rows.push(...(await measureFeatureFlags(folder)));
  if (asked('issues')) rows.push(...(await measureIssues(folder)));
  if (asked('search')) rows.push(...(await measureSearch(folder)));
  if (asked('long_lists')) rows.push(...(await measureLongLists(folder)));
  if (asked('pages')) rows.push(...(await measurePages(folder)));
  const peer = peerFrom(process.env);
  if (peer && asked('peer')) rows.push(...(await measurePeer(folder, peer)));
  if (!peer && process.argv.includes('peer')) {
    console.error(peerVariables);
    process.exitCode = 1;
  }
  if (rows.length > 0) print(rows);
} finally {
  await remove();
}
