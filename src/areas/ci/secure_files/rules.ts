/** Names of secure files, and what certificates say of themselves (docs/reference/secure_files.md). Pure functions. */
import { X509Certificate } from 'node:crypto';
import path from 'node:path';

const longestName = 255;
const longestCertificate_bytes = 65_536;

/** Whether a name can be that of a file in a folder of a job. */
export const isFileName = (name: string): boolean =>
  name.trim() !== '' &&
  name.length <= longestName &&
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  !/[/\\\x00-\x1f]/.test(name) &&
  name !== '.' &&
  name !== '..';

/** The extension of a name in lower case, without its dot; null if it has none. */
export const extensionOf = (name: string): string | null => path.posix.extname(name).slice(1).toLowerCase() || null;

/** Whether files of this name are read for what they say of themselves. */
export const isCertificate = (name: string): boolean => extensionOf(name) === 'cer';

/** What a certificate says of itself. */
export interface CertificateMetadata {
  /** The serial number, in hexadecimal. */
  id: string;
  /** Names by their kind, such as `CN`. */
  issuer: Readonly<Record<string, string>>;
  subject: Readonly<Record<string, string>>;
  expires_at: string;
}

/** A name of one line for each part, such as `CN=Apple`. */
function partsOf(name: string): Record<string, string> {
  const parts = name.split('\n').map((line) => {
    const at = line.indexOf('=');
    return [line.slice(0, at), line.slice(at + 1)] as const;
  });
  return Object.fromEntries(parts.filter(([kind]) => kind !== ''));
}

function certificateIn(content: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(content);
  } catch {
    return undefined;
  }
}

/** What a file says of itself; null unless it is a certificate in DER or PEM. */
export function metadataOf(name: string, content: Buffer): CertificateMetadata | null {
  if (!isCertificate(name) || content.length > longestCertificate_bytes) return null;
  const certificate = certificateIn(content);
  if (!certificate || Number.isNaN(certificate.validToDate.getTime())) return null;
  const { serialNumber: id, issuer, subject, validToDate } = certificate;
  return { id, issuer: partsOf(issuer), subject: partsOf(subject), expires_at: validToDate.toISOString() };
}
