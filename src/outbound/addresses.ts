/**
 * Which addresses of other systems are allowed. A server that requests any URL it is given lends its position in the network to the caller (SSRF). This checks
 * addresses as they are written and resolves nothing.
 */
import { BlockList, isIP } from 'node:net';

/** Why an address is refused: it names this machine or its network. */
export type LocalTarget = 'localhost' | 'local network';

/** Networks in the IANA special-purpose registries, whose addresses mean something else on each network. */
const networks: Record<LocalTarget, readonly string[]> = {
  localhost: ['127.0.0.0/8', '0.0.0.0/8', '::/128', '::1/128'],
  'local network': [
    // Private, shared with a carrier, link-local (where clouds serve secrets to a machine), for measurements and protocols.
    ...[
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '100.64.0.0/10',
      '169.254.0.0/16',
      '198.18.0.0/15',
      '192.0.0.0/24',
    ],
    // Multicast, reserved and broadcast.
    ...['224.0.0.0/4', '240.0.0.0/4'],
    // Unique local, link-local, site-local, multicast, discarded, segment routing.
    ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8', '100::/64', '5f00::/16'],
    // For documentation: no one has them, unless their network uses them.
    ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
    // IPv4 addresses inside IPv6 addresses: a translator on the way decides where they lead.
    ...['::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '2001::/32'],
  ],
};

function blockListOf(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network, prefix] = subnet.split('/') as [string, string];
    list.addSubnet(network, Number(prefix), isIP(network) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

const lists = Object.entries(networks).map(([place, subnets]) => [place as LocalTarget, blockListOf(subnets)] as const);

/** Names of this machine, and suffixes of local networks (RFC 6761, 6762, 8375 and the reserved `internal`). */
const ownNames = /^(?:.*\.)?(?:localhost|localhost\.localdomain|ip6-localhost|ip6-loopback)$/;
const localNames = /^(?:.*\.)?(?:local|localdomain|internal|home\.arpa)$/;

/**
 * Whether an address names this machine or its network, as far as the text says. A public name can still resolve to such an address, so code that opens a
 * connection must also check the resolved address with this function.
 * @param host in the form of `URL.hostname`, which normalises addresses and puts IPv6 addresses in brackets
 * @returns undefined for all other addresses
 */
export function localTargetOf(host: string): LocalTarget | undefined {
  const name = host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  const version = isIP(name);
  if (version !== 0) return lists.find(([, list]) => list.check(name, version === 4 ? 'ipv4' : 'ipv6'))?.[0];
  if (ownNames.test(name)) return 'localhost';
  // Names of one label are only known to the local resolver.
  return localNames.test(name) || !name.includes('.') ? 'local network' : undefined;
}

/**
 * Why a URL of another system is refused, as reasons for its field; empty when it is allowed.
 * @param mayBeLocal whether the settings of the server allow addresses of the local network
 */
export function urlReasons(url: string, mayBeLocal: boolean): string[] {
  // The parser forgives white space and backslashes, which others may read differently.
  const parsed = /^https?:\/\/[^\s\\]+$/i.test(url) ? URL.parse(url) : null;
  if (!parsed) return ['is blocked: Only allowed schemes are http, https'];
  const target = mayBeLocal ? undefined : localTargetOf(parsed.hostname);
  return target === undefined ? [] : [`is blocked: ${localTexts[target]}`];
}

/** The refusals of requests to local targets. */
export const localTexts: Readonly<Record<LocalTarget, string>> = {
  localhost: 'Requests to localhost are not allowed',
  'local network': 'Requests to the local network are not allowed',
};
