/** A hardware security key made of software, and the agent that asks it for signatures (PROTOCOL.u2f of OpenSSH). */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import ssh2, { type BaseAgent, type IdentityCallback, type ParsedKey, type SignCallback } from 'ssh2';
import { privateKeyText } from '../../src/ssh/index.ts';

type SecurityKeyType = 'sk-ssh-ed25519@openssh.com' | 'sk-ecdsa-sha2-nistp256@openssh.com';

function field(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value as Buffer);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** An integer as SSH writes it: without zeros in front, but with one before a set bit. */
function integer(bytes: Buffer): Buffer {
  const digits = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return field(digits[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), digits]) : digits);
}

function publicFields(type: SecurityKeyType, publicKey: KeyObject): (Buffer | string)[] {
  const { x, y } = publicKey.export({ format: 'jwk' });
  const [across, up] = [x, y ?? ''].map((part) => Buffer.from(part!, 'base64url'));
  return type === 'sk-ssh-ed25519@openssh.com'
    ? [across!]
    : ['nistp256', Buffer.concat([Buffer.from([4]), across!, up!])];
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest();
const application = 'ssh:';

export interface SecurityKey {
  /** Of its `.pub` file. */
  line: string;
  /**
   * @param flags what the security key says of its user: 1 when they touched it
   * @param purpose the application that it signs for
   */
  agent(flags?: number, purpose?: string): BaseAgent;
}

export function securityKey(type: SecurityKeyType): SecurityKey {
  const isEd25519 = type === 'sk-ssh-ed25519@openssh.com';
  const { publicKey, privateKey } = isEd25519
    ? generateKeyPairSync('ed25519')
    : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const blob = Buffer.concat([type, ...publicFields(type, publicKey), application].map(field));
  const signatureOf = (data: Buffer, flags: number, purpose: string) => {
    const tail = Buffer.from([flags, 0, 0, 0, 7]);
    const signed = Buffer.concat([sha256(purpose), tail, sha256(data)]);
    if (isEd25519) return Buffer.concat([sign(null, signed, privateKey), tail]);
    const both = sign('sha256', signed, { key: privateKey, dsaEncoding: 'ieee-p1363' });
    return Buffer.concat([integer(both.subarray(0, 32)), integer(both.subarray(32)), tail]);
  };
  // ssh2 takes no other keys than those it has parsed.
  const known = ssh2.utils.parseKey(privateKeyText(generateKeyPairSync('ed25519').privateKey)) as ParsedKey;
  const key: ParsedKey = Object.create(known, { type: { value: type }, getPublicSSH: { value: () => blob } });
  class Agent extends ssh2.BaseAgent<ParsedKey> {
    readonly #flags: number;
    readonly #purpose: string;
    constructor(flags: number, purpose: string) {
      super();
      this.#flags = flags;
      this.#purpose = purpose;
    }
    getIdentities(answer: IdentityCallback<ParsedKey>): void {
      answer(undefined, [key]);
    }
    sign(_key: ParsedKey, data: Buffer, options: object | SignCallback, answer?: SignCallback): void {
      (answer ?? (options as SignCallback))(undefined, signatureOf(data, this.#flags, this.#purpose));
    }
  }
  return {
    line: `${type} ${blob.toString('base64')}`,
    agent: (flags = 1, purpose = application) => new Agent(flags, purpose),
  };
}
