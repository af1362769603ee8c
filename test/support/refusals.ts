/** Holds what handlers refuse against what their endpoints declare: a refusal that the documentation does not know is a fault. */
import { type AnyEndpoint, type ApiError, tooFar } from '../../src/http/index.ts';
import { refusalsOf } from '../../src/http/refusals.ts';

/** What follows from other declarations: the plain texts of each status, which say nothing of the endpoint. */
const plain: Record<number, readonly string[]> = {
  401: ['401 Unauthorized'],
  403: ['403 Forbidden'],
  404: ['404 Not found', '404 Not Found'],
  405: [tooFar],
  412: ['412 Precondition Failed'],
};

/** A declared text as a pattern: what stands in angle brackets varies. */
const patternOf = (text: string) =>
  new RegExp(
    `^${text
      .split(/<[^<>]+>/)
      .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
      .join('[^]*')}$`,
  );

/** `message` as declarations write it: sentences, or each reason by its field. */
function textsIn({ message }: { message?: unknown }): string[] {
  if (Array.isArray(message)) return message;
  if (typeof message !== 'object' || message === null) return [String(message)];
  return Object.entries(message).flatMap(([field, reasons]) => [reasons].flat().map((reason) => `${field}: ${reason}`));
}

/** The texts of a refusal that the endpoint does not declare; the status alone where it has no text. */
export function undeclaredIn(endpoint: AnyEndpoint, { status, body }: Pick<ApiError, 'status' | 'body'>): string[] {
  const documented = status in refusalsOf(endpoint);
  if (status === 304) return documented ? [] : ['304'];
  const { message, error } = body as { message?: unknown; error?: unknown };
  // What is wrong with a parameter by itself.
  if (documented && status === 400 && error !== undefined && error === message) return [];
  const declared = [endpoint.refusals?.[status] ?? []].flat().map(patternOf);
  return textsIn(body).filter(
    (text) => !(documented && plain[status]?.includes(text)) && !declared.some((pattern) => pattern.test(text)),
  );
}
