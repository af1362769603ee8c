/** Names of other systems that lead to this machine. */
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

/** Has a name resolve to this machine until the test ends. */
export function leadHere(t: TestContext, name: string): void {
  const { lookup } = dns;
  const answer = (host: string, ...rest: unknown[]) => {
    if (host !== name) return Reflect.apply(lookup, dns, [host, ...rest]);
    const [options, give] = rest as [dns.LookupOptions, (error: null, ...found: unknown[]) => void];
    if (options.all) give(null, [{ address: '127.0.0.1', family: 4 }]);
    else give(null, '127.0.0.1', 4);
  };
  const { mock } = t.mock.method(dns, 'lookup', answer as typeof lookup);
  syncBuiltinESMExports();
  t.after(() => {
    mock.restore();
    syncBuiltinESMExports();
  });
}
