/** A device with one passkey in software: the part of WebAuthn that a browser and a security key have. */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** What a test changes of what a correct device and browser say. */
export interface Deviation {
  readonly origin?: string;
  readonly relyingPartyId?: string;
  readonly challenge?: string;
  readonly type?: string;
  readonly userVerified?: boolean;
  readonly userPresent?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  /** Signs with another key. */
  readonly key?: KeyObject;
  readonly id?: string;
}

/** The bits of a device's answer (WebAuthn, "Authenticator Data"). */
const FLAGS = { userPresent: 1, userVerified: 4, hasCredential: 64 } as const;

export class SoftwareAuthenticator {
  readonly #origin: string;
  readonly #keys: ReturnType<typeof newKeys>;
  readonly id = randomBytes(16).toString('base64url');
  /** A device that does not count says 0 each time. */
  counter: number;
  #userHandle: string | undefined;

  /** `isOld`: it signs with RSA. */
  constructor(
    origin: string,
    { counter = 1, isOld = false }: { readonly counter?: number; readonly isOld?: boolean } = {},
  ) {
    this.#origin = origin;
    this.#keys = newKeys(isOld);
    this.counter = counter;
  }

  create(
    { rp, user, challenge }: PublicKeyCredentialCreationOptionsJSON,
    deviation: Deviation = {},
  ): RegistrationResponseJSON {
    this.#userHandle = user.id;
    const id = deviation.id ?? this.id;
    const data = this.#data(rp.id ?? '', { ...deviation, id });
    const attestation = isoCBOR.encode(
      new Map<string, string | Uint8Array | Map<string, string>>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', new Uint8Array(data)],
      ]),
    );
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: this.#clientData('webauthn.create', challenge, deviation).toString('base64url'),
        attestationObject: Buffer.from(attestation).toString('base64url'),
        transports: ['internal'],
      },
    };
  }

  /** Signs the challenge. */
  get(
    { rpId = '', challenge }: PublicKeyCredentialRequestOptionsJSON,
    deviation: Deviation = {},
  ): AuthenticationResponseJSON {
    if (this.counter > 0) this.counter++;
    const data = this.#data(rpId, deviation);
    const clientData = this.#clientData('webauthn.get', challenge, deviation);
    const signature = createSign('sha256')
      .update(data)
      .update(createHash('sha256').update(clientData).digest())
      .sign(deviation.key ?? this.#keys.privateKey);
    const id = deviation.id ?? this.id;
    const userHandle = deviation.userHandle ?? this.#userHandle;
    return {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(userHandle === undefined ? {} : { userHandle }),
      },
    };
  }

  #clientData(type: string, challenge: string, deviation: Deviation): Buffer {
    return Buffer.from(
      JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false, ...only(deviation) }),
    );
  }

  /** With the public key if there is an id. */
  #data(
    relyingPartyId: string,
    { userVerified = true, userPresent = true, counter = this.counter, id, ...deviation }: Deviation,
  ): Buffer {
    const hash = createHash('sha256').update(deviation.relyingPartyId ?? relyingPartyId);
    const isNew = id !== undefined;
    const flags =
      (userPresent ? FLAGS.userPresent : 0) |
      (userVerified ? FLAGS.userVerified : 0) |
      (isNew ? FLAGS.hasCredential : 0);
    const head = Buffer.alloc(5);
    head.writeUInt8(flags);
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([hash.digest(), head, ...(isNew ? [this.#credential(id)] : [])]);
  }

  #credential(id: string): Buffer {
    const { x = '', y = '', n, e = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const bytes = Buffer.from(id, 'base64url');
    const head = Buffer.alloc(18);
    head.writeUInt16BE(bytes.length, 16);
    const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
    // COSE (RFC 9053): an elliptic curve key, for ES256, on P-256; (RFC 8812) an RSA key, for RS256.
    const key = new Map<number, number | Uint8Array>(
      n === undefined
        ? [
            [1, 2],
            [3, -7],
            [-1, 1],
            [-2, bytesOf(x)],
            [-3, bytesOf(y)],
          ]
        : [
            [1, 3],
            [3, -257],
            [-1, bytesOf(n)],
            [-2, bytesOf(e)],
          ],
    );
    return Buffer.concat([head, bytes, Buffer.from(isoCBOR.encode(key))]);
  }
}

function newKeys(isOld: boolean) {
  return isOld
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

/** The part of a deviation that is in the data of the browser. */
function only({ origin, challenge, type }: Deviation): Deviation {
  return { ...(origin && { origin }), ...(challenge && { challenge }), ...(type && { type }) };
}
