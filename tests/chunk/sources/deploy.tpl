{{- define "boat.labels" -}}
app: {{ .Chart.Name }}
{{- end -}}
