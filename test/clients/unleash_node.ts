/** An application with the feature flags of a project: for each line with a user it polls, and prints which flags are on for them. */
import { createInterface } from 'node:readline';
import { Unleash, UnleashEvents } from 'unleash-client';

const [, , url = '', instanceId = '', appName = '', backupPath = ''] = process.argv;
const unleash = new Unleash({
  url,
  appName,
  instanceId,
  backupPath,
  refreshInterval: 3_600_000,
  metricsInterval: 3_600_000,
  disableAutoStart: true,
  skipInstanceCountWarning: true,
});
// It says so when it is refused, and goes on with what it has.
unleash.on(UnleashEvents.Error, () => {});
unleash.on(UnleashEvents.Warn, () => {});
const settled = new Promise((resolve) => {
  unleash.once(UnleashEvents.Registered, resolve).once(UnleashEvents.Error, resolve);
});
await unleash.start();
await settled;
const { repository } = unleash as unknown as { repository: { fetch(): Promise<void> } };
const names = ['everyone', 'rowan', 'listed', 'staging'];
for await (const userId of createInterface(process.stdin)) {
  await repository.fetch();
  const flags = names.map((name) => [name, unleash.isEnabled(name, { userId })]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(flags))}\n`);
}
unleash.destroy();
