{{- define "hermes-acp.name" -}}
{{- $own := default .Chart.Name .Values.nameOverride -}}
{{- if contains $own .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name $own | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "hermes-acp.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "hermes-acp.labels" -}}
{{ include "hermes-acp.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "hermes-acp.image" -}}
{{- $repository := required "image.repository is empty: name the image that you built and pushed." .Values.image.repository -}}
{{- if .Values.image.digest }}{{ $repository }}@{{ .Values.image.digest }}{{ else }}{{ $repository }}:{{ default .Chart.AppVersion .Values.image.tag }}{{ end -}}
{{- end }}

{{/* What both kinds of pods share. */}}
{{- define "hermes-acp.pod" -}}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
serviceAccountName: {{ include "hermes-acp.name" .root }}
automountServiceAccountToken: false
# The variables of services begin with the release's name, and could look like settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .part.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .part.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: user
    emptyDir: {sizeLimit: 1Gi}
  - name: tmp
    emptyDir: {sizeLimit: {{ .root.Values.tmp.sizeLimit }}}
  {{- if .root.Values.config }}
  - name: config
    configMap:
      name: {{ include "hermes-acp.name" .root }}
  {{- end }}
{{- end }}

{{- define "hermes-acp.container" -}}
image: {{ include "hermes-acp.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
resources: {{- toYaml .part.resources | nindent 2 }}
{{- with .root.Values.secrets.environment }}
envFrom:
  {{- range . }}
  - secretRef:
      name: {{ . }}
  {{- end }}
{{- end }}
volumeMounts:
  - {name: user, mountPath: /home/hermes}
  - {name: home, mountPath: /home/hermes/.hermes}
  - {name: work, mountPath: /work}
  - {name: tmp, mountPath: /tmp}
  {{- if .root.Values.config }}
  - {name: config, mountPath: /home/hermes/.hermes/config.yaml, subPath: config.yaml, readOnly: true}
  {{- end }}
{{- end }}

{{- define "hermes-acp.variables" -}}
{{- range $name, $value := .root.Values.environment }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .root.Values.secrets.fleetDatabase }}
{{- if .name }}
- name: HERMES_FLEET_DATABASE
  valueFrom:
    secretKeyRef: {name: {{ .name }}, key: {{ .key }}}
{{- end }}
{{- end }}
{{- end }}

{{/* SIGTERM lets work end. The hook waits for that, so that a second signal comes only when the time is up. */}}
{{- define "hermes-acp.drain" -}}
preStop:
  exec:
    command: [sh, -c, "{{ . }}kill -TERM 1; tail --pid=1 -f /dev/null"]
{{- end }}

{{- define "hermes-acp.claims" -}}
{{- range $name, $volume := .volumes }}
- metadata:
    name: {{ $name }}
  spec:
    accessModes: [ReadWriteOnce]
    {{- with $volume.storageClass }}
    storageClassName: {{ . }}
    {{- end }}
    resources:
      requests:
        storage: {{ $volume.size }}
{{- end }}
{{- end }}
