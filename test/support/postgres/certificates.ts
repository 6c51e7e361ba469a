/** New certificates and keys for tests. */
import { generate } from 'selfsigned';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A new certificate authority. */
export async function newAuthority(name: string): Promise<Certificate> {
  const made = await generate([{ name: 'commonName', value: name }], {
    algorithm: 'sha256',
    keyType: 'ec',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert: made.cert, key: made.private };
}

/** A certificate for a server's host or a client's user, signed by an authority, or by itself if that is undefined. */
export async function certificateFor(
  name: string,
  ca: Certificate | undefined,
  until?: Date,
): Promise<Certificate> {
  const made = await generate([{ name: 'commonName', value: name }], {
    algorithm: 'sha256',
    keyType: 'ec',
    ...(ca === undefined ? {} : { ca }),
    ...(until === undefined ? {} : { notBeforeDate: new Date(0), notAfterDate: until }),
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
    ],
  });
  return { cert: made.cert, key: made.private };
}
